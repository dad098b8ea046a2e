export const REFERENCE_STYLE = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1d2433, #e7eaf0);
  --quiet: light-dark(#5b6577, #9aa5b8);
  --paper: light-dark(#fff, #12151c);
  --tint: light-dark(#f4f6fa, #1a1f29);
  --line: light-dark(#d9dee8, #313849);
  --accent: light-dark(#1f5fbf, #7db3ff);
  --good: light-dark(#16713c, #5fd38d);
  --bad: light-dark(#b3261e, #ff8a80);
}
* { box-sizing: border-box; }
body {
  margin: 0; color: var(--ink); background: var(--paper); font: 15px/1.55 system-ui, sans-serif;
  display: grid; grid-template: "top top" auto "index main" 1fr / 20rem minmax(0, 1fr); height: 100vh;
}
header { grid-area: top; display: flex; gap: 1.5rem; align-items: center; padding: .6rem 1.25rem; border-bottom: 1px solid var(--line); flex-wrap: wrap; }
.brand { font-weight: 700; font-size: 1.1rem; color: inherit; text-decoration: none; margin-right: auto; }
nav { grid-area: index; overflow: auto; border-right: 1px solid var(--line); padding: .9rem; background: var(--tint); }
main { grid-area: main; overflow: auto; padding: 1.5rem 2rem 4rem; outline: 0; }
main > * { max-width: 60rem; }
a { color: var(--accent); }
h1 { font-size: 1.45rem; line-height: 1.25; margin: 0 0 .25rem; } h2 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; }
h3 { font-size: .78rem; text-transform: uppercase; letter-spacing: .06em; color: var(--quiet); margin: 1.1rem 0 .3rem; }
code, pre, textarea, .path { font-family: ui-monospace, monospace; font-size: .9em; }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow: auto; max-height: 32rem; margin: .4rem 0; }
.quiet { color: var(--quiet); }
input, textarea, select, button { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .35rem .6rem; }
textarea { width: 100%; min-height: 9rem; resize: vertical; }
button { cursor: pointer; background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 600; }
button.plain { background: none; color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
#search { width: 100%; }
#credential { display: flex; gap: .6rem; align-items: center; flex-wrap: wrap; }
#token { width: 16rem; }
#index a { display: flex; gap: .5rem; align-items: baseline; padding: .2rem .4rem; border-radius: 5px; color: inherit; text-decoration: none; font-size: .88rem; }
#index a:hover, #index a[aria-current] { background: light-dark(#e3e9f4, #273043); }
.method { font: 700 .68rem ui-monospace, monospace; min-width: 4em; color: var(--accent); }
.method.POST { color: var(--good); } .method.DELETE { color: var(--bad); } .method.PUT, .method.PATCH { color: light-dark(#8a5a00, #f0b957); }
.path { overflow-wrap: anywhere; } .deprecated { text-decoration: line-through; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
td input, td select { width: 100%; min-width: 9rem; } .required::after { content: " *"; color: var(--bad); }
.schema { margin: 0; padding-left: 1.1rem; list-style: none; border-left: 1px solid var(--line); } .schema li { padding: .12rem 0; }
details > summary { cursor: pointer; padding: .3rem 0; } .status { font-weight: 700; } .status.good { color: var(--good); } .status.bad { color: var(--bad); }
@media (max-width: 48rem) { body { display: block; height: auto; } nav { border: 0; max-height: 40vh; } main { padding: 1rem; } }
`;
