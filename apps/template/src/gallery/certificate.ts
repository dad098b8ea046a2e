import { DocumentFormat } from '@plinth/contracts/template/shapes';
import type { GalleryTemplate } from './gallery-template';

export const certificate: GalleryTemplate = {
  name: 'certificate',
  formats: [DocumentFormat.Pdf, DocumentFormat.Html],
  content: `{# subject: [[certificate]] · {{ person.name }} #}
{# file: [[certificate]] {{ person.name }} #}
{# page: [[paper]] landscape #}
{# margin: 0 #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <title>[[certificate]]</title>
    <style>
      * { box-sizing: border-box; }
      body { margin: 0; background: #fffdf7; color: #27313d; font: 13pt/1.5 "Liberation Serif", Georgia, serif; }
      .sheet { position: relative; display: flex; flex-direction: column; align-items: center; justify-content: space-between; width: 297mm; max-width: 100%; height: 209mm; margin: 0 auto; padding: 28mm 30mm 24mm; text-align: center; }
      .sheet::before, .sheet::after { content: ""; position: absolute; pointer-events: none; }
      .sheet::before { inset: 9mm; border: .9mm solid #9a7b3f; }
      .sheet::after { inset: 11.5mm; border: .25mm solid #9a7b3f; }
      .issuer { color: #765a22; font: 700 11pt "Liberation Sans", Arial, sans-serif; }
      h1 { margin: 2mm 0 0; font-size: 42pt; line-height: 1.1; font-weight: 400; }
      .name { margin: 2mm 0; padding: 0 14mm 2mm; border-bottom: .3mm solid #9a7b3f; font-size: 32pt; line-height: 1.2; font-style: italic; }
      .for { max-width: 190mm; margin: 0; }
      .course { font-size: 18pt; font-weight: 700; }
      .foot { display: grid; grid-template-columns: 1fr auto 1fr; align-items: end; gap: 12mm; width: 100%; }
      .line { padding-top: 2mm; border-top: .3mm solid #27313d; font: 10pt/1.4 "Liberation Sans", Arial, sans-serif; }
      .seal { width: 31mm; height: 31mm; }
      @media print { .sheet { height: calc(100vh - 1mm); } }
    </style>
  </head>
  <body>
    <div class="sheet">
      <div>
        <div class="issuer">{{ issuer.name }}</div>
        <h1>[[certificate]]</h1>
      </div>
      <div>
        <p class="for">[[awarded]]</p>
        <div class="name">{{ person.name }}</div>
        <p class="for">[[completed]]<br /><span class="course">{{ course.name }}</span><br />{{ course.hours | number }} [[hours]]{% if course.grade %} · [[grade]] {{ course.grade }}{% endif %}</p>
      </div>
      <div class="foot">
        <div class="line">{{ date | date("long") }}<br />[[date]]</div>
        <svg class="seal" viewBox="-50 -50 100 100" role="img" aria-label="[[seal]]">
          <g fill="#9a7b3f">{% for i in range(24) %}<rect x="-5" y="-48" width="10" height="20" rx="4" transform="rotate({{ i * 15 }})" />{% endfor %}</g>
          <circle r="40" fill="#9a7b3f" /><circle r="35" fill="none" stroke="#fffdf7" stroke-width="1.4" />
          <path d="M-16 1 L-5 13 L18 -13" fill="none" stroke="#fffdf7" stroke-width="6" stroke-linecap="round" stroke-linejoin="round" />
        </svg>
        <div class="line">{{ issuer.signatory }}<br />{{ issuer.position }}</div>
      </div>
    </div>
  </body>
</html>
`,
  texts: {
    en: {
      title: 'Certificate',
      description: 'For a course that somebody completed, to be framed.',
      category: 'People',
      certificate: 'Certificate of Completion',
      awarded: 'This is to certify that',
      completed: 'has successfully completed the course',
      hours: 'hours',
      grade: 'grade',
      date: 'Date',
      seal: 'Seal',
      course: 'Color Theory for Printers',
      position: 'Program Director',
    },
    'en-GB': { course: 'Colour Theory for Printers', position: 'Programme Director' },
    fr: {
      title: 'Certificat',
      description: 'Pour une formation suivie jusqu’au bout, à encadrer.',
      category: 'Personnel',
      certificate: 'Certificat de réussite',
      awarded: 'Nous certifions que',
      completed: 'a suivi avec succès la formation',
      hours: 'heures',
      grade: 'mention',
      date: 'Date',
      seal: 'Sceau',
      course: 'Théorie de la couleur pour l’imprimerie',
      position: 'Direction des études',
    },
    'fr-CA': {
      certificate: 'Attestation de réussite',
      title: 'Attestation',
      position: 'Direction du programme',
    },
  },
  sampleData: {
    person: { name: 'Ada Lovelace' },
    course: { name: '[[course]]', hours: 40, grade: 'A' },
    date: '2026-11-21',
    issuer: { name: 'Northwind Academy', signatory: 'Grace Hopper', position: '[[position]]' },
  },
};
