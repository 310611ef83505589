package browser

// linksScript lists the links in the order of the document.
const linksScript = `[...document.querySelectorAll("a[href]")].map(a => ({
  name: a.getAttribute("aria-label") || a.textContent.trim(), text: a.textContent.trim(), url: a.href,
}))`

// layout compares the widths of page and window, in pixels.
type layout struct {
	Content int      `json:"content"`
	Window  int      `json:"window"`
	Wide    []string `json:"wide"` // what is outside the window, and in nothing that scrolls by itself
}

const layoutScript = `(() => {
  const scrolls = e => e && e !== document.body && (getComputedStyle(e).overflowX !== "visible" || scrolls(e.parentElement));
  const wide = [...document.body.querySelectorAll("*")]
    .filter(e => e.getBoundingClientRect().left + e.scrollWidth > innerWidth && !scrolls(e));
  return {
    content: document.documentElement.scrollWidth, window: innerWidth,
    wide: wide.slice(0, 5).map(e => e.outerHTML.slice(0, 150)),
  };
})()`

// focus describes the element that has the keyboard's focus.
type focus struct {
	Element  string `json:"element"` // "" = none
	Link     int    `json:"link"`    // its number among the links, -1 = none of them
	Outlined bool   `json:"outlined"`
	Visible  bool   `json:"visible"`
}

const focusScript = `(() => {
  const e = document.activeElement;
  if (!e || e === document.body) return {element: "", link: -1};
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  return {
    element: e.outerHTML.slice(0, 150), link: [...document.querySelectorAll("a[href]")].indexOf(e),
    outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
    visible: box.width > 0 && box.height > 0 && box.right > 0 && box.left < innerWidth && box.bottom > 0 && box.top < innerHeight,
  };
})()`
