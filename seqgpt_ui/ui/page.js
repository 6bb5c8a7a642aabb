// The language that a visitor chose, else the one fixed by the setting, else the browser's; and the keyboard.
window.seqgptPage = (() => {
  const key = "seqgpt-language";
  const shown = "__SHOWN__"; // the language that the server sent the page in
  const fixed = "__FIXED__"; // zh or en, empty when the browser decides

  function first() {
    const kept = localStorage.getItem(key);
    const own = (navigator.language || "").toLowerCase().startsWith("zh") ? "zh" : "en";
    const language = ["zh", "en"].includes(kept) ? kept : fixed || own;
    document.documentElement.lang = language;
    return language;
  }

  function keep(language) {
    localStorage.setItem(key, language);
    document.documentElement.lang = language;
    return language;
  }

  function settled() {
    document.documentElement.classList.remove("switching-language");
  }

  // A page that is about to change its language is shown once it has; page.css shows it after a while in any case.
  if (first() !== shown) document.documentElement.classList.add("switching-language");

  // Ctrl+Enter (Cmd+Enter on a Mac) presses the main button of the tab that is open.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    const button = [...document.querySelectorAll("button.run, .run button")].find((item) => item.offsetParent);
    if (!button || button.disabled) return;
    event.preventDefault();
    button.click();
  });

  return { first, keep, settled };
})();
