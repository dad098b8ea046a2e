import { DocumentFormat } from '@plinth/contracts/template/shapes';
import type { GalleryTemplate } from './gallery-template';
import { messageStyle } from './message-style';

export const welcome: GalleryTemplate = {
  name: 'welcome',
  formats: [DocumentFormat.Html],
  content: `{# subject: [[subject]] #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>[[subject]]</title>
    <style>${messageStyle}
      ol { margin: 24px 0; padding: 0; list-style: none; counter-reset: step; }
      li { position: relative; margin-bottom: 18px; padding-left: 46px; counter-increment: step; }
      li::before { content: counter(step); position: absolute; left: 0; top: 2px; width: 30px; height: 30px; border-radius: 50%; background: #e8eeff; color: #1f4fd8; font-weight: 700; line-height: 30px; text-align: center; }
    </style>
  </head>
  <body>
    <div class="message">
      <p class="brand">{{ company.name }}</p>
      <h1>[[hello]] {{ person.firstName }}</h1>
      <p>[[glad]]</p>
      <ol>
        {% for step in steps %}
        <li><strong>{{ step.title }}</strong><br />{{ step.text }}</li>
        {% endfor %}
      </ol>
      <p><a class="button" href="{{ startUrl }}">[[begin]]</a></p>
      <p class="soft">[[questions]] <a href="mailto:{{ company.email }}">{{ company.email }}</a></p>
    </div>
    <p class="foot">{{ company.name }} · {{ company.address }}</p>
  </body>
</html>
`,
  texts: {
    en: {
      title: 'Welcome',
      description: 'The first message to a new member, with three things to begin with.',
      category: 'Messages',
      subject: 'Welcome to {{ company.name }}',
      hello: 'Welcome,',
      glad: 'It is good to have you with us. These three things make a good beginning:',
      begin: 'Begin',
      questions: 'Any questions? Write to',
      profile: 'Complete your profile',
      profileText: 'A picture and two lines, so that others know who you are.',
      team: 'Find your team',
      teamText: 'See who works on what, and say hello.',
      colors: 'Choose your colors',
      colorsText: 'Light or dark, and how often we write to you.',
      address: '214 Harbor Street, New Haven, CT 06510',
    },
    'en-GB': {
      colors: 'Choose your colours',
      glad: 'It is lovely to have you with us. These three things make a good beginning:',
      address: '14 Harbour Street, Bristol BS1 5TY',
    },
    fr: {
      title: 'Bienvenue',
      description: 'Le premier message à un nouveau membre, avec trois choses pour commencer.',
      category: 'Messages',
      subject: 'Bienvenue chez {{ company.name }}',
      hello: 'Bienvenue,',
      glad: 'Nous sommes heureux de vous compter parmi nous. Trois choses pour bien commencer :',
      begin: 'Commencer',
      questions: 'Une question ? Écrivez à',
      profile: 'Complétez votre profil',
      profileText: 'Une photo et deux lignes, pour que les autres sachent qui vous êtes.',
      team: 'Trouvez votre équipe',
      teamText: 'Voyez qui travaille à quoi, et dites bonjour.',
      colors: 'Choisissez vos couleurs',
      colorsText: 'Clair ou sombre, et à quelle fréquence nous vous écrivons.',
      address: '14 quai du Port, 13002 Marseille',
    },
    'fr-CA': {
      questions: 'Une question? Écrivez à',
      address: '214, rue du Port, Montréal (Québec) H2Y 2P5',
    },
  },
  sampleData: {
    person: { firstName: 'Ada' },
    company: { name: 'Northwind Studio', email: 'hello@northwind.example', address: '[[address]]' },
    startUrl: 'https://northwind.example/start',
    steps: [
      { title: '[[profile]]', text: '[[profileText]]' },
      { title: '[[team]]', text: '[[teamText]]' },
      { title: '[[colors]]', text: '[[colorsText]]' },
    ],
  },
};
