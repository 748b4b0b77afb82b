/** Light, dark, or what the system says. */
const KEY = 'skein-theme';

export type Theme = 'auto' | 'light' | 'dark';

export function theme(): Theme {
  return (localStorage.getItem(KEY) as Theme | null) ?? 'auto';
}

export function setTheme(chosen: Theme): void {
  localStorage.setItem(KEY, chosen);
  apply();
}

export function apply(): void {
  const chosen = theme();
  if (chosen === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  dispatchEvent(new Event('skein-theme'));
}
