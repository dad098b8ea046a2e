import type { Endpoint } from '../endpoint';
import type { Json } from './schemas';

/**
 * How an endpoint is called by the SDK; the languages that follow from HTTP alone are made by whatever shows the document.
 * @param service its name as in the contracts
 * @param values of the parameters in its path, and its body
 */
export function codeSamples(
  service: string,
  name: string,
  endpoint: Endpoint,
  { params, body }: { params: Record<string, unknown>; body: unknown },
): Json[] {
  const client = service.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const input = [
    ...(Object.keys(params).length > 0 ? [`params: ${literal(params)}`] : []),
    ...(endpoint.list ? ['list: { pageSize: 20 }'] : []),
    ...(endpoint.upload ? [uploadInput(endpoint)] : []),
    ...(body === undefined ? [] : [`body: ${literal(body)}`]),
  ];
  const given = input.length === 0 ? '' : `{\n  ${input.join(',\n').replaceAll('\n', '\n  ')},\n}`;
  const call = `${client}.${name}(${given})`;
  const { events, file } = endpoint.success;
  const lines = [
    `import { createPlatformClient } from '@plinth/sdk/client';`,
    ...(file ? [`import { saveTo } from '@plinth/sdk/node-files';`] : []),
    '',
    `const { ${client} } = createPlatformClient({ baseUrl, token });`,
    '',
    ...(events || file || endpoint.success.body ? [`const { body } = await ${call};`] : [`await ${call};`]),
    ...(events ? ['for await (const { event, data } of body) console.log(event, data);'] : []),
    ...(file ? ['await saveTo(body, body.fileName);'] : []),
  ];
  return [{ lang: 'TypeScript', label: 'SDK', source: lines.join('\n') }];
}

function uploadInput({ uploadFields }: Endpoint): string {
  const names = Object.keys(uploadFields?.shape ?? {});
  return names.length === 0 ? 'file' : `file,\nfields: { ${names.join(', ')} }`;
}

/** A value as a person would write it: names without quotes, texts in single ones. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replace(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
    .replace(
      /"((?:[^"\\]|\\.)*)"/g,
      (_, text: string) => `'${text.replaceAll("'", "\\'").replaceAll('\\"', '"')}'`,
    );
}
