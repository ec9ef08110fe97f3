"use strict";
// Colours: as the system, light, dark. It runs before the page is painted, so that nothing flashes.
try {
  const theme = localStorage.getItem("toolvet-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* no storage */ }
