/** A token of the development issuer with these claims. */
export async function tokenOf(gateway: string, claims: object): Promise<string> {
  const response = await fetch(`${gateway}/dev/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sub: 'bench', name: 'Bench', ...claims }),
  });
  return ((await response.json()) as { accessToken: string }).accessToken;
}
