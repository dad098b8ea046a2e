import { openHoles } from './known-holes.mjs';

const url = 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc';
const report = (severity: string) => ({
  vulnerabilities: {
    parser: { via: [{ name: 'parser', title: 'Reads too far', url, severity }] },
    reader: { via: ['parser'] },
  },
});
const exception = {
  advisory: 'GHSA-aaaa-bbbb-cccc',
  until: '2027-01-31',
  reason: 'It reads only our own files.',
};

describe('the audit of dependencies', () => {
  it('fails on a known hole, once, whichever packages have it', () => {
    expect(openHoles(report('high'), [], '2027-01-01')).toEqual([`parser: Reads too far (high, ${url})`]);
    expect(openHoles(report('low'), [], '2027-01-01')).toEqual([]);
  });

  it('accepts an exception up to its date, and none for what is mended', () => {
    expect(openHoles(report('high'), [exception], '2027-01-31')).toEqual([]);
    expect(openHoles(report('high'), [exception], '2027-02-01')).toHaveLength(1);
    expect(openHoles({ vulnerabilities: {} }, [exception], '2027-01-01')).toEqual([
      'GHSA-aaaa-bbbb-cccc: the exception excuses nothing any more; remove it',
    ]);
  });
});
