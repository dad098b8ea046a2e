import { runInNewContext } from 'node:vm';
import { inLatin1 } from './bundle-workflows.ts';

describe('a bundle of workflows', () => {
  it('does the same without characters that need two bytes', () => {
    const code =
      "/* before — after */ const größe = '— 😀'; [größe, `${größe}…`, /^[—…]$/.test('…'), /^[😀]$/u.test('😀')]";

    expect(inLatin1(code)).not.toMatch(/[\u0100-\uffff]/);
    expect(runInNewContext(inLatin1(code))).toEqual(['— 😀', '— 😀…', true, true]);
  });
});
