import { SaxesParser } from 'saxes';
import type { TextFile, TextUnit } from './text-file';

/** XLIFF 1.2, which every tool of translators reads: a file for each resource, a unit for each key. */
export function toXliff({ units, sourceCulture, targetCulture }: TextFile): string {
  const byResource = Map.groupBy(units, ({ resource }) => resource);
  const files = [...byResource].map(
    ([
      resource,
      texts,
    ]) => `  <file original="${escape(resource)}" source-language="${escape(sourceCulture)}" target-language="${escape(targetCulture)}" datatype="plaintext">
    <body>
${texts.map(unitOf).join('\n')}
    </body>
  </file>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
${files.join('\n')}
</xliff>
`;
}

const unitOf = ({ key, source, target }: TextUnit): string =>
  `      <trans-unit id="${escape(key)}" xml:space="preserve">
        <source>${escape(source)}</source>
        <target${target === '' ? ' state="needs-translation"' : ''}>${escape(target)}</target>
      </trans-unit>`;

const escape = (text: string): string =>
  text.replace(/[&<>"\r\n\t]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Markup inside a text is read as text. @throws Error for XML that is not well formed */
export function fromXliff(text: string): TextUnit[] {
  const units: TextUnit[] = [];
  let resource = '';
  let unit: TextUnit | undefined;
  let member: 'source' | 'target' | undefined;
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'file') resource = String(attributes['original'] ?? '');
    else if (name === 'trans-unit')
      unit = { resource, key: String(attributes['id'] ?? ''), source: '', target: '' };
    else if (name === 'source' || name === 'target') member = name;
  });
  parser.on('text', (content) => {
    if (unit && member) unit[member] += content;
  });
  parser.on('closetag', ({ name }) => {
    if (name === 'source' || name === 'target') member = undefined;
    if (name === 'trans-unit' && unit) units.push(unit);
    if (name === 'trans-unit') unit = undefined;
  });
  parser.write(text).close();
  return units;
}
