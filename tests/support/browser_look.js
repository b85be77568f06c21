// Runs in a world of its own beside the page and returns what the DOM holds, as browser.py describes it.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const XLINK = "http://www.w3.org/1999/xlink";
  const links = [];
  // A detached anchor resolves as the document does: against its base, in its encoding.
  const resolver = document.createElement("a");

  function add(kind, element, value) {
    if (value === null || value === undefined) return;
    resolver.setAttribute("href", value);
    if (resolver.protocol !== "http:" && resolver.protocol !== "https:") return;
    const rel = (element.getAttribute("rel") || "").toLowerCase().split(/[\t\n\f\r ]+/).filter(Boolean);
    links.push([kind, resolver.href, rel]);
  }

  // The URLs of a srcset (HTML standard, "parse a srcset attribute"): a comma within parentheses parts no candidates.
  function candidates(srcset) {
    const found = [];
    let rest = (srcset || "").replace(/^[\t\n\f\r ,]+/, "");
    while (rest) {
      const url = rest.match(/^[^\t\n\f\r ]+/)[0];
      rest = rest.slice(url.length);
      if (url.endsWith(",")) {
        found.push(url.replace(/,+$/, ""));
      } else {
        found.push(url);
        rest = rest.slice(rest.match(/^(?:[^(,]|\([^)]*\)?)*/)[0].length);
      }
      rest = rest.replace(/^[\t\n\f\r ,]+/, "");
    }
    return found.filter(Boolean);
  }

  const ATTRIBUTES = {
    a: ["href"], area: ["href"], frame: ["src"], iframe: ["src"], link: ["href"], img: ["src", "srcset"],
    source: ["src", "srcset"], video: ["src", "poster"], audio: ["src"], script: ["src"], object: ["data"],
    embed: ["src"],
  };
  for (const element of document.querySelectorAll("*")) {
    if (element.namespaceURI === SVG && element.localName === "a") {
      add("a", element, element.getAttribute("href") ?? element.getAttributeNS(XLINK, "href"));
    }
    if (!(element instanceof HTMLElement)) continue;
    for (const attribute of ATTRIBUTES[element.localName] || []) {
      const value = element.getAttribute(attribute);
      if (attribute === "srcset") {
        for (const url of candidates(value)) add(element.localName, element, url);
      } else if (value !== null && (value.trim() || attribute === "href" && element.localName !== "link")) {
        add(element.localName, element, value);
      }
    }
  }
  return {
    url: document.URL, base: document.baseURI, charset: document.characterSet.toLowerCase(), links,
  };
})()
