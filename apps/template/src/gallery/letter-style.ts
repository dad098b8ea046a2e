/** What documents on paper have in common. */
export const letterStyle = `
      * { box-sizing: border-box; }
      body { margin: 0; color: #1d2733; font: 10pt/1.5 "Liberation Sans", Arial, sans-serif; }
      h1 { margin: 0 0 5mm; font-size: 20pt; line-height: 1.2; font-weight: 700; letter-spacing: -.01em; }
      .head { display: flex; justify-content: space-between; gap: 10mm; padding-bottom: 5mm; margin-bottom: 10mm; border-bottom: .6mm solid #1f4fd8; }
      .head strong { font-size: 13pt; color: #1f4fd8; }
      .head div:last-child { text-align: right; }
      .soft { color: #586474; font-size: 8.5pt; }
      .parties { display: flex; justify-content: space-between; gap: 10mm; margin-bottom: 9mm; }
      .parties dl { display: grid; grid-template-columns: auto auto; gap: 1mm 6mm; margin: 0; align-content: start; }
      .parties dt { color: #586474; }
      .parties dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
      table { width: 100%; border-collapse: collapse; }
      .lines th { padding: 2mm; border-bottom: .4mm solid #1d2733; color: #586474; font-size: 8pt; text-align: left; }
      .lines td { padding: 2mm; border-bottom: .2mm solid #dbe1e8; vertical-align: top; }
      .lines tr { break-inside: avoid; }
      .lines th:first-child, .lines td:first-child { padding-left: 0; }
      .lines th:last-child, .lines td:last-child { padding-right: 0; }
      th.number, td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
      .totals { width: 76mm; max-width: 100%; margin: 4mm 0 10mm auto; break-inside: avoid; }
      .totals td { padding: 1.2mm 0; }
      .totals tr:last-child td { padding-top: 2mm; border-top: .4mm solid #1d2733; font-size: 12pt; font-weight: 700; }
      @media screen { body { max-width: 200mm; margin: 0 auto; padding: 12mm 10mm; } }
      @media screen and (max-width: 480px) { body { padding: 6mm 4mm; font-size: 9pt; } .head, .parties { gap: 4mm; } .lines th, .lines td { padding: 2mm .8mm; } }`;

/** The first lines of a letter: who writes, and to whom. */
export const letterHead = `
    <div class="head">
      <div><strong>{{ company.name }}</strong></div>
      <div class="soft">{{ company.street }}<br />{{ company.city }}<br />{{ company.email }}</div>
    </div>`;

export const sampleCompany = {
  name: 'Northwind Studio',
  street: '[[companyStreet]]',
  city: '[[companyCity]]',
  email: 'hello@northwind.example',
  account: '[[companyAccount]]',
};

export const sampleCustomer = {
  name: 'Ada Lovelace',
  street: '[[customerStreet]]',
  city: '[[customerCity]]',
};

/** Places and money of each language, for sample data. */
export const samplePlaces = {
  en: {
    currency: 'USD',
    companyStreet: '214 Harbor Street',
    companyCity: 'New Haven, CT 06510',
    companyAccount: '4417 1234 5678',
    customerStreet: '18 Maple Avenue',
    customerCity: 'Hartford, CT 06103',
  },
  'en-GB': {
    currency: 'GBP',
    companyStreet: '14 Harbour Street',
    companyCity: 'Bristol BS1 5TY',
    companyAccount: 'GB29 NWBK 6016 1331 9268 19',
    customerStreet: '12 St James’s Square',
    customerCity: 'London SW1Y 4LB',
  },
  fr: {
    currency: 'EUR',
    companyStreet: '14 quai du Port',
    companyCity: '13002 Marseille',
    companyAccount: 'FR76 3000 6000 0112 3456 7890 189',
    customerStreet: '18 avenue des Tilleuls',
    customerCity: '69002 Lyon',
  },
  'fr-CA': {
    currency: 'CAD',
    companyStreet: '214, rue du Port',
    companyCity: 'Montréal (Québec) H2Y 2P5',
    companyAccount: '00006-003-1234567',
    customerStreet: '18, avenue des Érables',
    customerCity: 'Québec (Québec) G1R 4S9',
  },
};
