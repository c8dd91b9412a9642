<<<<<<<< HEAD:console/dist/assets/chevron-right-hQWEkoDB.js
import{g as o}from"./index-ZiNnqH1i.js";/**
========
import{c as o}from"./index-CBzs5sGr.js";/**
>>>>>>>> 62c90e75:console/dist/assets/chevron-right-XMYnPAgZ.js
 * @license lucide-react v0.577.0 - ISC
 *
 * This source code is licensed under the ISC license.
 * See the LICENSE file in the root directory of this source tree.
 */const n=[["path",{d:"m6 9 6 6 6-6",key:"qrunsl"}]],c=o("chevron-down",n);/**
 * @license lucide-react v0.577.0 - ISC
 *
 * This source code is licensed under the ISC license.
 * See the LICENSE file in the root directory of this source tree.
 */const e=[["path",{d:"m9 18 6-6-6-6",key:"mthhwq"}]],h=o("chevron-right",e);export{c as C,h as a};
