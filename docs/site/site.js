// Wide tables scroll sideways: also by keyboard (axe: scrollable-region-focusable).
document$.subscribe(() => document.querySelectorAll(".md-typeset__scrollwrap").forEach((each) => { each.tabIndex = 0 }))
