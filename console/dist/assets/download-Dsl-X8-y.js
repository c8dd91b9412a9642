import{h as a,z as i,D as d}from"./index-HqCpaSI8.js";/**
 * @license lucide-react v0.577.0 - ISC
 *
 * This source code is licensed under the ISC license.
 * See the LICENSE file in the root directory of this source tree.
 */const l=[["path",{d:"M12 15V3",key:"m9g1x1"}],["path",{d:"M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4",key:"ih7n3h"}],["path",{d:"m7 10 5 5 5-5",key:"brsn70"}]],p=a("download",l);function w(e,t,n){const s=URL.createObjectURL(new Blob([n],{type:t})),o=document.createElement("a");o.href=s,o.download=e,o.click(),setTimeout(()=>URL.revokeObjectURL(s),1e4)}async function u(e,t){const n=Object.entries(t).filter(([,c])=>c!==void 0&&c!==""),s=new URLSearchParams(n.map(([c,r])=>[c,String(r)])),o=await fetch(`${e}?${s}`,{headers:i,credentials:"same-origin"});if(!o.ok)throw await d(o);return o.text()}const f=/[",\r\n]/;function h(e){const t=e==null?"":String(e),n=typeof e=="string"&&/^[=+\-@\t]/.test(t)?`'${t}`:t;return f.test(n)?`"${n.replaceAll('"','""')}"`:n}function k(e,t){const n=t.map(s=>e.map(o=>h(s[o])).join(","));return[e.join(","),...n,""].join(`\r
`)}export{p as D,k as c,w as d,u as f};
