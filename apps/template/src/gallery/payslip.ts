import { DocumentFormat } from '@plinth/contracts/template/shapes';
import type { GalleryTemplate } from './gallery-template';
import { letterHead, letterStyle, sampleCompany, samplePlaces } from './letter-style';

export const payslip: GalleryTemplate = {
  name: 'payslip',
  formats: [DocumentFormat.Pdf, DocumentFormat.Excel, DocumentFormat.Html],
  content: `{# subject: [[payslip]] {{ period }} #}
{# file: [[payslip]] {{ employee.name }} {{ period }} #}
{# page: [[paper]] #}
{# margin: 18mm 15mm 22mm #}
{# footer: <span>[[confidential]]</span> #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <title>[[payslip]] {{ period }}</title>
    <style>${letterStyle}
      h2 { margin: 8mm 0 1mm; font-size: 11pt; }
      .lines .sum td { border-bottom: 0; font-weight: 700; }
      .net { display: flex; align-items: baseline; justify-content: space-between; margin-top: 10mm; padding: 5mm 6mm; border-radius: 2mm; background: #1f4fd8; color: #fff; break-inside: avoid; }
      .net strong { font-size: 18pt; font-variant-numeric: tabular-nums; }
    </style>
  </head>
  <body>${letterHead}
    <h1>[[payslip]] · {{ period }}</h1>
    <div class="parties">
      <div><strong>{{ employee.name }}</strong><br />{{ employee.position }}</div>
      <dl>
        <dt>[[number]]</dt><dd>{{ employee.number }}</dd>
        <dt>[[paidOn]]</dt><dd>{{ paidOn | date("long") }}</dd>
        <dt>[[days]]</dt><dd>{{ days | number }}</dd>
      </dl>
    </div>
    {% set gross = earnings | sum("amount") | round(2) %}
    {% set withheld = deductions | sum("amount") | round(2) %}
    <h2>[[earnings]]</h2>
    <table class="lines" data-sheet="[[earnings]]">
      {% for line in earnings %}
      <tr><td>{{ line.text }}</td><td class="number" data-type="number" data-value="{{ line.amount }}">{{ line.amount | currency(currency) }}</td></tr>
      {% endfor %}
      <tr class="sum"><td>[[gross]]</td><td class="number" data-type="number" data-value="{{ gross }}">{{ gross | currency(currency) }}</td></tr>
    </table>
    <h2>[[deductions]]</h2>
    <table class="lines" data-sheet="[[deductions]]">
      {% for line in deductions %}
      <tr><td>{{ line.text }}</td><td class="number" data-type="number" data-value="{{ line.amount }}">{{ (0 - line.amount) | currency(currency) }}</td></tr>
      {% endfor %}
      <tr class="sum"><td>[[withheld]]</td><td class="number" data-type="number" data-value="{{ withheld }}">{{ (0 - withheld) | currency(currency) }}</td></tr>
    </table>
    <div class="net"><span>[[net]]</span> <strong>{{ (gross - withheld) | currency(currency) }}</strong></div>
    <p class="soft">[[keep]]</p>
  </body>
</html>
`,
  texts: {
    en: {
      ...samplePlaces.en,
      title: 'Payslip',
      description: 'Earnings, deductions and what is paid out.',
      category: 'People',
      payslip: 'Payslip',
      confidential: 'Confidential',
      number: 'Employee no.',
      paidOn: 'Pay date',
      days: 'Days worked',
      earnings: 'Earnings',
      gross: 'Gross pay',
      deductions: 'Deductions',
      withheld: 'Total deductions',
      net: 'Net pay',
      keep: 'Please keep this payslip for your records.',
      period: 'November 2026',
      position: 'Senior engineer',
      salary: 'Salary',
      bonus: 'On-call bonus',
      taxes: 'Income tax',
      social: 'Social security',
      pension: 'Retirement plan',
    },
    'en-GB': {
      ...samplePlaces['en-GB'],
      number: 'Payroll no.',
      bonus: 'On-call allowance',
      social: 'National Insurance',
      pension: 'Pension',
    },
    fr: {
      ...samplePlaces.fr,
      title: 'Bulletin de paie',
      description: 'Rémunération, retenues et net à payer.',
      category: 'Personnel',
      payslip: 'Bulletin de paie',
      confidential: 'Confidentiel',
      number: 'Matricule',
      paidOn: 'Payé le',
      days: 'Jours travaillés',
      earnings: 'Rémunération',
      gross: 'Salaire brut',
      deductions: 'Retenues',
      withheld: 'Total des retenues',
      net: 'Net à payer',
      keep: 'Conservez ce document sans limitation de durée.',
      period: 'novembre 2026',
      position: 'Ingénieure confirmée',
      salary: 'Salaire de base',
      bonus: 'Prime d’astreinte',
      taxes: 'Impôt sur le revenu',
      social: 'Sécurité sociale',
      pension: 'Retraite',
    },
    'fr-CA': {
      ...samplePlaces['fr-CA'],
      title: 'Bulletin de paye',
      payslip: 'Bulletin de paye',
      keep: 'Veuillez conserver ce bulletin dans vos dossiers.',
      number: 'Numéro d’employé',
      bonus: 'Prime de garde',
      social: 'Assurance-emploi',
      pension: 'Régime de rentes',
    },
  },
  sampleData: {
    period: '[[period]]',
    paidOn: '2026-11-27',
    days: 20,
    currency: '[[currency]]',
    company: sampleCompany,
    employee: { name: 'Grace Hopper', number: '00417', position: '[[position]]' },
    earnings: [
      { text: '[[salary]]', amount: 5200 },
      { text: '[[bonus]]', amount: 340.5 },
    ],
    deductions: [
      { text: '[[taxes]]', amount: 812.4 },
      { text: '[[social]]', amount: 431.15 },
      { text: '[[pension]]', amount: 260 },
    ],
  },
};
