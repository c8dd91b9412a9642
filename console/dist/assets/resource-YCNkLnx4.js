const o=(r,e)=>(r.rowKey??r.id)(e);function s(r,e){return{...e,path:r}}export{o as a,s as r};
