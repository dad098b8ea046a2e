import { keepAccessible } from './accessibility';
import { createDevelopmentForm } from './development-form';
import { describeForPage, type Configuration, type ReferenceDocument } from './document';
import { carryNonce } from './nonce';
import { referenceConfiguration } from './reference-configuration';
import { signInScheme } from './sign-in';
import './style.css';

/** `/docs`: the API reference. It loads from and calls this gateway only, and the issuer that signs people in. */
async function start(): Promise<void> {
  carryNonce();
  keepAccessible(window.document.getElementById('reference')!);
  const [{ createApiReference }, document, { openId, development }] = await Promise.all([
    import('@scalar/api-reference'),
    readJson<ReferenceDocument>('/openapi.json'),
    readJson<Configuration>('/docs/configuration'),
  ]);
  const content = describeForPage(document, openId === null ? undefined : await signInScheme(openId));
  const reference = createApiReference('#reference', referenceConfiguration(content));
  if (development === null) return;
  const form = createDevelopmentForm(development.tenants, (token) =>
    reference.updateConfiguration(referenceConfiguration(content, token)),
  );
  top().append(form);
}

async function readJson<Value>(path: string): Promise<Value> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}.`);
  return (await response.json()) as Value;
}

const top = (): HTMLElement => window.document.getElementById('top')!;

start().catch((error: unknown) => {
  const message = document.createElement('p');
  message.role = 'alert';
  message.textContent = `The API reference could not be shown: ${(error as Error).message}`;
  top().append(message);
});
