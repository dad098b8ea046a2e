const names = ['Château Lacoste', 'Blåbær AS', 'Ibérica Diaz', 'Müller & Söhne', 'Café Noël', 'Łódź Tools'];
const kinds = ['Supplier', 'Partner', 'Customer'];

/** A file of companies as an old program of an office writes it; four of its rows cannot be right. */
export function companiesFile(): Buffer {
  const rows = Array.from({ length: 42 }, (_, index) => {
    const number = 1_001 + index;
    const name = `${names[index % names.length]!.replace('Łódź', 'Lodz')} ${1 + Math.floor(index / names.length)}`;
    const founded = `${pad(1 + (index % 28))}.${pad(1 + (index % 12))}.${1971 + index}`;
    const isBroken = (row: number) => index === row;
    return [
      `C-${number}`,
      name,
      isBroken(7) ? 'Friend' : kinds[index % kinds.length],
      index % 3 ? 'yes' : 'no',
      founded,
      isBroken(15) ? 'a lot' : `${250 * (index + 1)},50`,
      isBroken(22) ? '-4' : String(3 * index + 1),
      isBroken(31) ? 'office(at)example.com' : `office${number}@example.com`,
    ].join(';');
  });
  const header = 'Customer no.;Company name;Type;Active;Founded;Credit limit (EUR);Staff;E-mail';
  return Buffer.from(`${[header, ...rows].join('\r\n')}\r\n`, 'latin1');
}

const pad = (value: number): string => String(value).padStart(2, '0');
