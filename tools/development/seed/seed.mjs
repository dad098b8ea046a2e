/**
 * Fills the demo tenant through the public interface, as a client would. Everything here may run again: what a
 * person has changed meanwhile stays. Settings stay unset, so that the language of the browser decides.
 * @param {{ url: string, token: string }} platform
 * @returns {Promise<void>}
 */
export async function seed({ url, token }) {
  await seedText({ url, token }, 'en', 'Welcome to the demo of Plinth');
  await seedText({ url, token }, 'fr', 'Bienvenue dans la démo de Plinth');
}

/**
 * One text of the tenant's own. A service that is not ready is skipped.
 * @param {{ url: string, token: string }} platform
 * @param {string} culture
 * @param {string} value
 */
async function seedText({ url, token }, culture, value) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const overrides = `${url}/localization/overrides`;
  const known = await fetch(`${overrides}?resourceName=Demo&cultureName=${culture}`, { headers });
  if (!known.ok || 'welcome' in /** @type {object} */ (await known.json())) return;
  await fetch(`${overrides}/Demo/${culture}/welcome`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ value }),
  });
}
