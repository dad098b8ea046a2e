/**
 * What Scalar leaves out for those who do not see the page, or use no mouse: names of buttons that are only an icon, names
 * that tell regions apart, and lists that can be scrolled by keyboard. `axe` finds nothing after this.
 */
export function keepAccessible(page: HTMLElement): void {
  new MutationObserver(() => repair(page)).observe(page, { childList: true, subtree: true });
  repair(page);
}

function repair(page: HTMLElement): void {
  for (const button of page.querySelectorAll('button[class*="copy-button"]:not([aria-label])'))
    button.ariaLabel = 'Copy';
  for (const list of page.querySelectorAll('ul.endpoints:not([tabindex])'))
    list.setAttribute('tabindex', '0');
  for (const card of page.querySelectorAll('.response-card[aria-labelledby]')) {
    card.removeAttribute('aria-labelledby');
    const heading = card.closest('section')?.querySelector('h2, h3')?.textContent?.trim() ?? '';
    card.ariaLabel = `Example responses: ${heading}`;
  }
}
