import { DocumentFormat } from '@plinth/contracts/template/shapes';
import type { GalleryTemplate } from './gallery-template';
import { letterStyle, samplePlaces } from './letter-style';

export const monthlyReport: GalleryTemplate = {
  name: 'monthly-report',
  formats: [DocumentFormat.Pdf, DocumentFormat.Excel, DocumentFormat.Html],
  content: `{# subject: [[report]] {{ year }} #}
{# file: [[report]] {{ year }} #}
{# page: [[paper]] #}
{# margin: 18mm 15mm 22mm #}
{# footer: <div style="display: flex; justify-content: space-between; width: 100%"><span>{{ company.name }}</span><span>{page} / {pages}</span></div> #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <title>[[report]] {{ year }}</title>
    <style>${letterStyle}
      .figures { display: flex; gap: 5mm; margin-bottom: 9mm; }
      .figures div { flex: 1; padding: 4mm 5mm; border-radius: 2mm; background: #f1f4f9; }
      .figures strong { display: block; font-size: 16pt; line-height: 1.3; font-variant-numeric: tabular-nums; }
      figure { margin: 0 0 9mm; break-inside: avoid; }
      figcaption { margin-bottom: 3mm; font-weight: 700; }
      svg { display: block; width: 100%; }
      svg text { fill: #586474; font: 9px "Liberation Sans", Arial, sans-serif; }
      .lines .down { color: #b0241c; }
      .lines .up { color: #136b3a; }
    </style>
  </head>
  <body>
    <div class="head">
      <div><strong>{{ company.name }}</strong></div>
      <div class="soft">{{ now | date("long") }}</div>
    </div>
    <h1>[[report]] {{ year }}</h1>
    {% set highest = 1 %}{% for month in months %}{% if month.value > highest %}{% set highest = month.value %}{% endif %}{% endfor %}
    {# The scale ends at a round number above the highest month, in four steps. #}
    {% set unit = 1 %}{% for power in range(12) %}{% if unit * 400 <= highest %}{% set unit = unit * 10 %}{% endif %}{% endfor %}
    {% set top = (highest / unit / 4) | round(0, "ceil") * unit * 4 %}
    {% set total = months | sum("value") %}
    {% set best = (months | sort(true, false, "value")) | first %}
    <div class="figures">
      <div><span class="soft">[[total]]</span> <strong>{{ total | currency(currency) }}</strong></div>
      <div><span class="soft">[[average]]</span> <strong>{{ (total / (months | length)) | currency(currency) }}</strong></div>
      <div><span class="soft">[[best]]</span> <strong>{{ best.name }}</strong></div>
    </div>
    {% set step = 556 / (months | length) %}
    <figure>
      <figcaption>[[byMonth]]</figcaption>
      <svg viewBox="0 0 600 232" role="img" aria-label="[[byMonth]]">
        {% for part in [0, 0.25, 0.5, 0.75, 1] %}
        <line x1="44" x2="600" y1="{{ 200 - part * 170 }}" y2="{{ 200 - part * 170 }}" stroke="#dbe1e8" stroke-width="1" />
        <text x="38" y="{{ 203 - part * 170 }}" text-anchor="end">{{ (top * part) | number }}</text>
        {% endfor %}
        {% for month in months %}
        {% set height = month.value / top * 170 %}
        <rect x="{{ 44 + (loop.index0 + 0.18) * step }}" y="{{ 200 - height }}" width="{{ step * 0.64 }}" height="{{ height }}" rx="3" fill="{% if month.name == best.name %}#1f4fd8{% else %}#9db6f5{% endif %}" />
        <text x="{{ 44 + (loop.index0 + 0.5) * step }}" y="218" text-anchor="middle">{{ month.name }}</text>
        {% endfor %}
      </svg>
    </figure>
    <table class="lines" data-sheet="[[report]]">
      <thead><tr><th>[[month]]</th><th class="number">[[value]]</th><th class="number">[[plan]]</th><th class="number">[[difference]]</th></tr></thead>
      <tbody>
        {% for month in months %}
        {% set difference = month.value - month.plan %}
        <tr>
          <td>{{ month.name }}</td>
          <td class="number" data-type="number" data-value="{{ month.value }}">{{ month.value | currency(currency) }}</td>
          <td class="number" data-type="number" data-value="{{ month.plan }}">{{ month.plan | currency(currency) }}</td>
          <td class="number {% if difference < 0 %}down{% else %}up{% endif %}" data-type="number" data-value="{{ difference }}">{% if difference > 0 %}+{% endif %}{{ difference | currency(currency) }}</td>
        </tr>
        {% endfor %}
      </tbody>
    </table>
  </body>
</html>
`,
  texts: {
    en: {
      ...samplePlaces.en,
      title: 'Report with a chart',
      description: 'Figures, a bar chart and a table that compares with the plan.',
      category: 'Reports',
      report: 'Revenue',
      total: 'Total',
      average: 'Average per month',
      best: 'Best month',
      byMonth: 'Revenue by month',
      month: 'Month',
      value: 'Revenue',
      plan: 'Plan',
      difference: 'Difference',
      jan: 'Jan',
      feb: 'Feb',
      mar: 'Mar',
      apr: 'Apr',
      may: 'May',
      jun: 'Jun',
    },
    'en-GB': {
      ...samplePlaces['en-GB'],
      report: 'Turnover',
      byMonth: 'Turnover by month',
      value: 'Turnover',
    },
    fr: {
      ...samplePlaces.fr,
      title: 'Rapport avec graphique',
      description: 'Des chiffres, un diagramme et un tableau comparé aux prévisions.',
      category: 'Rapports',
      report: 'Chiffre d’affaires',
      total: 'Total',
      average: 'Moyenne par mois',
      best: 'Meilleur mois',
      byMonth: 'Chiffre d’affaires par mois',
      month: 'Mois',
      value: 'Réalisé',
      plan: 'Prévu',
      difference: 'Écart',
      jan: 'Janv.',
      feb: 'Févr.',
      mar: 'Mars',
      apr: 'Avr.',
      may: 'Mai',
      jun: 'Juin',
    },
    'fr-CA': { ...samplePlaces['fr-CA'], plan: 'Budget' },
  },
  sampleData: {
    year: 2026,
    currency: '[[currency]]',
    company: { name: 'Northwind Studio' },
    months: [
      { name: '[[jan]]', value: 41200, plan: 40000 },
      { name: '[[feb]]', value: 38900, plan: 41000 },
      { name: '[[mar]]', value: 47300, plan: 43000 },
      { name: '[[apr]]', value: 52150, plan: 46000 },
      { name: '[[may]]', value: 49800, plan: 50000 },
      { name: '[[jun]]', value: 58400, plan: 52000 },
    ],
  },
};
