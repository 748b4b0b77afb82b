/**
 * Documentation in Debian's packages, with what of each page is its own: marked by hand, once for each generator, by the
 * frames that it puts around all of its pages. A bar of navigation inside the content is none of it; a table of contents
 * is where the generator keeps it apart from the text.
 */
export interface Documentation {
  readonly name: string;
  readonly folder: string;
  /** Pages in the folder. */
  readonly pages?: string;
  readonly content: string;
  /** Parts of the content that are not: bars, links to edit. */
  readonly without: string;
}

const share = '/usr/share/doc';

/** The rules of main content were made looking at these. */
const looked: readonly Documentation[] = [
  {
    name: 'postgresql',
    folder: `${share}/postgresql-doc-15/html`,
    content: 'body',
    without: '.navheader, .navfooter',
  },
  {
    name: 'cppreference',
    folder: '/usr/share/cppreference/doc/html/en',
    content: '#mw-content-text',
    without: '.t-navbar, .editsection, #toc, .printfooter, .navbox, script, style',
  },
  {
    name: 'jdk',
    folder: `${share}/openjdk-17-doc/api`,
    content: 'main',
    without: 'script, style, noscript, button, input, nav',
  },
  {
    name: 'mdbook',
    folder: `${share}/rust-doc/html`,
    pages: '{book,rustdoc,reference,nomicon,cargo,rust-by-example,embedded-book,edition-guide,rustc}/**/!(print).html',
    content: 'main',
    without: 'nav, button, script, .buttons',
  },
  {
    name: 'python',
    folder: `${share}/python3-doc/html`,
    content: '[role=main]',
    without: '.headerlink, script',
  },
  {
    name: 'gtk',
    folder: `${share}/libgtk-4-doc`,
    content: 'section#main',
    without: 'a.srclink, .toc',
  },
  {
    name: 'nodejs',
    folder: `${share}/nodejs/api`,
    content: '#apicontent',
    without: 'a.mark, .srclink, button',
  },
  {
    name: 'octave',
    folder: `${share}/octave/octave.html`,
    content: 'body',
    without: '.header',
  },
  {
    name: 'handbook',
    folder: `${share}/debian-handbook/html/en-US`,
    content: 'body',
    without: '#banner, .docnav',
  },
  {
    name: 'gtkmm',
    folder: `${share}/libgtkmm-3.0-doc/reference/html`,
    content: 'div.contents',
    without: 'script',
  },
  {
    name: 'apache',
    folder: `${share}/apache2-doc/manual`,
    content: '#page-content',
    without: '.toplang, .bottomlang, #quickview, .top, #comments_section, .section:has(#comments_section), script',
  },
  {
    name: 'cmake',
    folder: '/usr/share/doc/cmake-doc/html',
    content: '[role=main]',
    without: '.headerlink, script',
  },
  {
    name: 'erlang',
    folder: `${share}/erlang-doc`,
    content: '#content',
    without: '.footer, button, script',
  },
  {
    name: 'sqlite',
    folder: `${share}/sqlite3`,
    content: 'body',
    without: '.nosearch, button, script',
  },
];

/** Nobody looked at these while rules were made: they say how well the rules do elsewhere. */
const leftOut: readonly Documentation[] = [
  {
    name: 'django',
    folder: `${share}/python-django-doc/html`,
    content: '#yui-main .yui-b',
    without: '.headerlink, script',
  },
  {
    name: 'git',
    folder: `${share}/git-doc`,
    content: 'body',
    without: '#footer, #toc, script',
  },
  {
    name: 'rustdoc',
    folder: `${share}/rust-doc/html`,
    pages: '{std,core,alloc,proc_macro,test}/**/*.html',
    content: '#main-content',
    without:
      'nav, button, script, .out-of-band, .rightside, .srclink, .since, .anchor, .notable-traits-tooltip, .hideme',
  },
  {
    name: 'exim',
    folder: `${share}/exim4-doc-html/spec_html`,
    content: '#content',
    without: '.previous_page, .next_page, .toc_page',
  },
  {
    name: 'haddock',
    folder: `${share}/ghc-doc/html/libraries`,
    content: '#content',
    without: '#table-of-contents, .link, .selflink',
  },
  {
    name: 'gimp',
    folder: '/usr/share/gimp/2.0/help/en',
    content: 'body',
    without: '.navheader, .navfooter',
  },
  {
    name: 'gio',
    folder: '/usr/share/gtk-doc/html/gio',
    content: '.refentry',
    without: 'script',
  },
  {
    name: 'sphinx-own',
    folder: `${share}/sphinx-doc/html`,
    content: '[role=main]',
    without: '.headerlink',
  },
];

export const documentation: readonly Documentation[] = [...looked, ...leftOut];
