import type { Configuration } from './document';

type Tenants = NonNullable<Configuration['development']>['tenants'];

/** Where development tokens are issued: a form that gets one for a person of a tenant. */
export function createDevelopmentForm(tenants: Tenants, onToken: (token: string) => void): HTMLFormElement {
  const person = input('person', 'ada');
  const roles = input('roles', 'admin');
  const tenant = Object.assign(document.createElement('select'), { name: 'tenant' });
  tenant.append(...tenants.map(({ id, name }) => new Option(name, id)), new Option('host tenant', ''));
  const state = document.createElement('output');
  const form = document.createElement('form');
  form.id = 'development';
  form.ariaLabel = 'Development token';
  form.append(
    labelled('Person', person),
    labelled('Tenant', tenant),
    labelled('Roles', roles),
    Object.assign(document.createElement('button'), { textContent: 'Get a development token' }),
    state,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const claims = {
      sub: person.value,
      name: person.value,
      roles: roles.value
        .split(',')
        .map((role) => role.trim())
        .filter(Boolean),
      ...(tenant.value === '' ? {} : { tenantId: tenant.value }),
    };
    state.textContent = await requestToken(claims, onToken).catch(
      (error: unknown) => (error as Error).message,
    );
  });
  return form;
}

async function requestToken(claims: object, onToken: (token: string) => void): Promise<string> {
  const response = await fetch('/dev/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(claims),
  });
  const body = (await response.json()) as { accessToken: string; detail: string };
  if (!response.ok) return body.detail;
  onToken(body.accessToken);
  return 'Requests are sent with this token.';
}

const input = (name: string, value: string): HTMLInputElement =>
  Object.assign(document.createElement('input'), {
    name,
    value,
    size: 10,
    autocomplete: 'off',
    spellcheck: false,
  });

function labelled(text: string, control: HTMLElement): HTMLLabelElement {
  const label = document.createElement('label');
  label.append(text, control);
  return label;
}
