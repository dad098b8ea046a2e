import { latin } from '@fontsource-variable/inter/unicode.json';

/** A cache with nothing else in it: whoever reads it need not know the name of the file, which changes with its content. */
const CACHE = 'plinth-font';

/**
 * Shows texts in the console's font from their first frame on where an earlier page stored it. Otherwise this page keeps
 * that of the system: texts would move when another one comes. (ADR 0046)
 */
export async function showStoredFont(): Promise<void> {
  if (!isCacheThere()) return;
  const [file] = await (await caches.open(CACHE)).matchAll();
  if (!file) return;
  const descriptors = { weight: '100 900', unicodeRange: latin };
  try {
    // A name of its own: it is left to browsers which one they take of two fonts of one name, and one asks the network.
    const font = new FontFace('Inter Stored', await file.arrayBuffer(), descriptors);
    document.fonts.add(await font.load());
  } catch (error) {
    // No page could show it, and none would store another one in its place.
    await caches.delete(CACHE);
    throw error;
  }
  if (!isTextShown()) document.documentElement.classList.add('with-font');
}

/** On a device with much to do the application may be faster than the cache: texts that are shown already would move. */
const isTextShown = (): boolean => {
  const root = document.querySelector('#root');
  return root !== null && root.querySelector('.starting') === null;
};

/** Stores the font for the pages that come, in the place of an older one. */
export async function storeFont(address: string): Promise<void> {
  if (!isCacheThere()) return;
  const fonts = await caches.open(CACHE);
  const stored = await fonts.keys();
  if (stored.some(({ url }) => new URL(url).pathname === address)) return;
  await fonts.add(new Request(address, { priority: 'low' }));
  for (const older of stored) await fonts.delete(older);
}

/** Browsers have it where the connection is encrypted, or on the machine itself. */
const isCacheThere = (): boolean => 'caches' in globalThis;
