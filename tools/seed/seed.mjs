/**
 * Fills the demo tenant through the public interface, as a client would. Everything here may run again: what a
 * person has changed meanwhile stays.
 * @param {{ url: string, token: string }} platform
 * @returns {Promise<void>}
 */
export async function seed({ url, token }) {
  await seedSetting({ url, token }, 'Service.Localization.PreferredCulture', 'en');
}

/**
 * A service that does not have its endpoints yet answers 404 or 501: then there is nothing to fill.
 * @param {{ url: string, token: string }} platform
 * @param {string} name
 * @param {string} value
 */
async function seedSetting({ url, token }, name, value) {
  const authorization = `Bearer ${token}`;
  const settings = await fetch(`${url}/api/v1/settings/tenant`, { headers: { authorization } });
  if (!settings.ok) return;
  const known = /** @type {Record<string, string | null>} */ (await settings.json());
  if (known[name] !== undefined && known[name] !== null) return;
  await fetch(`${url}/api/v1/settings/tenant/${name}`, {
    method: 'PUT',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ value }),
  });
}
