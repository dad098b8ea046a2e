import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { looksAt, scenes } from './scenes';

const root = join(__dirname, '../../..');
const pictures = scenes.flatMap((scene) => looksAt(scene).map(({ suffix }) => `${scene.name}${suffix}.jpg`));

it('the folder of pictures has every page in every look, and nothing else', () => {
  expect(readdirSync(join(root, 'docs/console')).toSorted()).toEqual(pictures.toSorted());
});

it('the README of the console shows each of them', () => {
  const shown = readFileSync(join(root, 'apps/console/README.md'), 'utf8').matchAll(
    /docs\/console\/([^)]+)\)/g,
  );
  expect([...shown].map(([, name]) => name).toSorted()).toEqual(pictures.toSorted());
});
