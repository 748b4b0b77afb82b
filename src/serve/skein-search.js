/**
 * <skein-search>: a search box that asks a Skein. One script tag, no other file:
 *   <script type="module" src="https://search.example.org/widget.js"></script>
 *   <skein-search label="Search the docs"></skein-search>
 * Attributes: endpoint (default: where the script came from), label, hotkey (default /; none = no key), filter (is added to
 * every question, as site:docs.example.org). Colours and font by CSS: --skein-accent, --skein-background, --skein-text,
 * --skein-quiet, --skein-line, --skein-font, --skein-radius.
 */
const home = new URL('.', import.meta.url).href;
const WAIT = 120;

const style = `
:host{display:inline-block;text-align:start;text-transform:none;text-indent:0;letter-spacing:normal;word-spacing:normal;white-space:normal;font:var(--skein-font,1rem/1.45 system-ui,sans-serif);
--a:var(--skein-accent,#0b57d0);--b:var(--skein-background,#fff);--t:var(--skein-text,#1c1d1f);--q:var(--skein-quiet,#5a5f66);--l:var(--skein-line,#d5d8dc);--r:var(--skein-radius,.6rem)}
@media(prefers-color-scheme:dark){:host{--a:var(--skein-accent,#8ab4f8);--b:var(--skein-background,#1d1f23);--t:var(--skein-text,#e8e9eb);--q:var(--skein-quiet,#a4abb3);--l:var(--skein-line,#3b3f45)}}
*{box-sizing:border-box}
button,input{font:inherit;color:inherit}
.open{display:inline-flex;gap:.6rem;align-items:center;padding:.45rem .8rem;border:1px solid var(--l);border-radius:var(--r);background:var(--b);color:var(--q);cursor:pointer;min-width:12rem}
kbd{margin-left:auto;border:1px solid var(--l);border-radius:.3rem;padding:0 .35rem;font-size:.8em}
dialog{width:min(42rem,calc(100vw - 2rem));max-height:80vh;margin:8vh auto auto;padding:0;border:1px solid var(--l);border-radius:var(--r);background:var(--b);color:var(--t);overflow:hidden}
dialog[open]{display:flex;flex-direction:column}
dialog::backdrop{background:#0008}
.top{display:flex;gap:.5rem;padding:.7rem;border-bottom:1px solid var(--l)}
input{flex:1;min-width:0;border:0;outline:0;background:none;padding:.3rem;font-size:1.1em}
.top:focus-within{box-shadow:inset 0 -2px var(--a)}
.close{border:1px solid var(--l);border-radius:.4rem;background:none;cursor:pointer;color:var(--q)}
:focus-visible{outline:2px solid var(--a);outline-offset:2px}input:focus-visible{outline:0}
.facets{display:flex;gap:.4rem;overflow-x:auto;padding:.5rem .7rem;border-bottom:1px solid var(--l)}
.facets:empty{display:none}
.facets button{white-space:nowrap;border:1px solid var(--l);border-radius:1rem;background:none;padding:.1rem .7rem;font-size:.85em;color:var(--q);cursor:pointer}
.facets [aria-pressed=true]{border-color:var(--a);color:var(--a)}
.results{overflow-y:auto;padding:.3rem}
[role=option]{display:block;padding:.5rem .7rem;border-radius:.4rem;color:inherit;text-decoration:none;overflow-wrap:anywhere}
[role=option].part{margin-left:1.2rem;padding:.3rem .7rem;border-left:2px solid var(--l);border-radius:0 .4rem .4rem 0}
[role=option][aria-selected=true]{background:color-mix(in srgb,var(--a) 14%,transparent)}
b{display:block;font-weight:600}
small{display:block;color:var(--q)}
mark{background:none;color:var(--a);font-weight:600}
p{margin:0;padding:.6rem .8rem;color:var(--q);font-size:.9em}
@media(max-width:40rem){dialog{width:100vw;max-width:none;height:100dvh;max-height:none;margin:0;border:0;border-radius:0}.open{min-width:0}}
`;

/** An element with properties and children; texts are texts, whatever they hold. */
const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const fragments = pieces => pieces.map(({ text, hit }) => (hit ? make('mark', {}, text) : text));
/** Only addresses of the web become links. */
const isWeb = url => /^https?:\/\//i.test(url);

class SkeinSearch extends HTMLElement {
  connectedCallback() {
    if (!this.shadowRoot) this.build();
    document.addEventListener('keydown', this.onKey);
  }

  build() {
    const root = this.attachShadow({ mode: 'open' });
    const label = this.getAttribute('label') ?? 'Search';
    const key = this.getAttribute('hotkey') ?? '/';
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    const button = make('button', { class: 'open', type: 'button', 'aria-haspopup': 'dialog' }, label);
    if (key !== 'none') button.append(make('kbd', { 'aria-hidden': 'true' }, key));
    this.input = make('input', {
      ...{ type: 'search', placeholder: label, 'aria-label': label, autocomplete: 'off', spellcheck: 'false' },
      ...{ role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'results', 'aria-autocomplete': 'list' },
      maxlength: '180',
    });
    const close = make('button', { class: 'close', type: 'button' }, 'Close');
    this.facets = make('div', { class: 'facets', role: 'group', 'aria-label': 'Filters' });
    this.note = make('p', { role: 'status', 'aria-live': 'polite' }, 'Type to search.');
    this.results = make('div', {
      class: 'results',
      id: 'results',
      role: 'listbox',
      'aria-label': 'Results',
      tabindex: '-1',
    });
    this.dialog = make('dialog', { 'aria-label': label });
    this.dialog.append(make('div', { class: 'top' }, this.input, close), this.facets, this.note, this.results);
    root.append(button, this.dialog);
    this.filters = new Set();
    button.addEventListener('click', () => this.open());
    close.addEventListener('click', () => this.dialog.close());
    this.dialog.addEventListener('click', event => event.target === this.dialog && this.dialog.close());
    // A result may be on the page that the reader is on: then no other page takes the box away.
    this.results.addEventListener('click', () => this.dialog.close());
    this.input.addEventListener('input', () => this.ask());
    this.input.addEventListener('keydown', event => this.move(event));
    this.onKey = event => {
      const typing = event
        .composedPath()
        .some(each => each.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(each.nodeName));
      const called =
        (event.key === key && !typing && key !== 'none') || (event.key === 'k' && (event.ctrlKey || event.metaKey));
      if (!called || this.dialog.open) return;
      event.preventDefault();
      this.open();
    };
  }

  disconnectedCallback() {
    document.removeEventListener('keydown', this.onKey);
  }

  open() {
    this.dialog.showModal();
    this.input.focus();
    this.input.select();
  }

  /** Waits for the next letter, and never shows an answer to a question that was asked before another. */
  ask() {
    clearTimeout(this.timer);
    this.waiting = true;
    this.entered = false;
    this.timer = setTimeout(async () => {
      const words = this.input.value.trim();
      this.asking?.abort();
      if (words === '') return this.show({ hits: [], facets: [] }, 'Type to search.');
      this.asking = new AbortController();
      const slow = setTimeout(() => (this.note.textContent = 'Searching …'), 400);
      try {
        const question = [words, this.getAttribute('filter') ?? '', ...this.filters].join(' ').trim();
        const url = new URL('search', this.getAttribute('endpoint') ?? home);
        url.search = new URLSearchParams({
          q: question,
          lang: document.documentElement.lang || navigator.language || '',
        });
        const answer = await fetch(url, { signal: this.asking.signal, credentials: 'omit' });
        const found = await answer.json();
        if (!answer.ok) return this.show({ hits: [], facets: [] }, found.error ?? 'Search is not available.');
        const count = `${found.exact ? '' : 'More than '}${found.total.toLocaleString('en')} ${found.total === 1 ? 'page' : 'pages'}`;
        const meant = found.corrected ? ` for “${found.corrected}”` : '';
        this.show(found, found.hits.length === 0 ? 'No results. Try fewer or different words.' : `${count}${meant}`);
      } catch (error) {
        if (error.name !== 'AbortError')
          this.show({ hits: [], facets: [] }, 'Search is not available. Try again later.');
      } finally {
        clearTimeout(slow);
      }
    }, WAIT);
  }

  show({ hits, facets }, note) {
    this.note.textContent = note;
    const options = hits
      .filter(({ url }) => isWeb(url))
      .flatMap(hit => {
        const place = new URL(hit.url);
        const top = [
          make('b', {}, ...(hit.title.length > 0 ? fragments(hit.title) : [hit.url])),
          make('small', {}, ...fragments(hit.snippet)),
          make('small', {}, place.host + place.pathname),
        ];
        const parts = hit.sections.map(({ anchor, heading, snippet }) =>
          this.option(
            `${hit.url.split('#')[0]}#${encodeURIComponent(anchor)}`,
            'part',
            make('b', {}, heading),
            make('small', {}, ...fragments(snippet)),
          ),
        );
        return [this.option(hit.url, 'page', ...top), ...parts];
      });
    this.waiting = false;
    for (const [at, option] of options.entries()) option.id = `r${at}`;
    this.results.replaceChildren(...options);
    this.input.setAttribute('aria-expanded', String(options.length > 0));
    this.choose(options[0]);
    const chips = facets
      .filter(({ name }) => name !== 'language')
      .flatMap(({ values }) => values.slice(0, 6))
      .slice(0, 12);
    const kept = [...this.filters].filter(filter => !chips.some(chip => chip.filter === filter));
    this.facets.replaceChildren(
      ...[...kept.map(filter => ({ label: filter, filter })), ...chips].map(chip => this.chip(chip)),
    );
    if (this.entered) this.chosen?.click();
    this.entered = false;
  }

  option(url, kind, ...children) {
    return make('a', { role: 'option', class: kind, href: url, tabindex: '-1', 'aria-selected': 'false' }, ...children);
  }

  chip({ label, filter, pages }) {
    const on = this.filters.has(filter);
    const chip = make(
      'button',
      { type: 'button', 'aria-pressed': String(on) },
      pages === undefined ? label : `${label} ${pages}`,
    );
    chip.addEventListener('click', () => {
      on ? this.filters.delete(filter) : this.filters.add(filter);
      this.ask();
      this.input.focus();
    });
    return chip;
  }

  choose(option) {
    this.chosen?.setAttribute('aria-selected', 'false');
    this.chosen = option;
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({ block: 'nearest' });
    option
      ? this.input.setAttribute('aria-activedescendant', option.id)
      : this.input.removeAttribute('aria-activedescendant');
  }

  move(event) {
    const options = [...this.results.children];
    const at = options.indexOf(this.chosen);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 5, PageUp: at - 5 }[event.key];
    if (to !== undefined && options.length > 0) {
      event.preventDefault();
      this.choose(options[Math.max(0, Math.min(options.length - 1, to))]);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      // What is chosen answers the letters before these: the answer is opened when it is here.
      if (this.waiting) this.entered = true;
      else this.chosen?.click();
    } else if (event.key === 'Escape') {
      // A browser would empty the field first, and close at the second time.
      event.preventDefault();
      this.dialog.close();
    }
  }
}

if (!customElements.get('skein-search')) customElements.define('skein-search', SkeinSearch);
