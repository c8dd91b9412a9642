function n(r,e){return{...e,path:r}}export{n as r};
