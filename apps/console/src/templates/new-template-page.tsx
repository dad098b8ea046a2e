import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { categoriesQuery, cultureQuery, templates } from '../api/templates';
import { useAfterPaint } from '../components/after-paint';
import { Button } from '../components/button';
import { Choices } from '../components/choices';
import { Page } from '../components/page';
import { Select } from '../components/select';
import { Failure } from '../components/state';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { useTexts } from '../texts/texts';
import { nameProblems, nameWords } from './template-name';
import { BackToTemplates } from './back-to-templates';

const EVERY_LANGUAGE = 'every';
const NO_CATEGORY = '';

/** What a new template begins with, by its media type. */
const beginnings = {
  'text/html': `{# subject: {{ title }} #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <title>{{ title }}</title>
    <style>
      body { font: 16px/1.5 sans-serif; }
    </style>
  </head>
  <body>
    <h1>{{ title }}</h1>
    <p>{{ name }}</p>
  </body>
</html>
`,
  'text/plain': '{# subject: {{ title }} #}\n{{ title }}\n\n{{ name }}\n',
};

/** An empty template, to be written. */
export function NewTemplatePage() {
  const { t, languages } = useTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  // In a list that is closed at first.
  const isPainted = useAfterPaint();
  const { data: categories = [] } = useQuery({ ...categoriesQuery, enabled: isPainted });
  const [language, setLanguage] = useState(EVERY_LANGUAGE);
  const [category, setCategory] = useState(NO_CATEGORY);
  const [mimeType, setMimeType] = useState<keyof typeof beginnings>('text/html');
  const form = useContractForm({
    shape: 'template',
    defaultValues: { name: '' },
    words: nameWords,
    problems: nameProblems,
    send: async ({ name }) => {
      const culture = cultureQuery(language === EVERY_LANGUAGE ? undefined : language);
      const body = {
        name: name.trim(),
        ...culture,
        ...(category === NO_CATEGORY ? {} : { category }),
        mimeType,
        content: beginnings[mimeType],
      };
      const { body: made } = await templates.postTemplate({ body });
      void queries.invalidateQueries({ queryKey: ['templates'] });
      await navigate({ to: '/templates/$name', params: { name: made.name }, search: culture });
    },
  });
  return (
    <Page title={t('Console.templates.new')} lead={t('Console.templates.newLead')} back={<BackToTemplates />}>
      <Form form={form} className="stack loose narrow-form">
        <FormField
          form={form}
          name="name"
          label={t('Templating.fields.name')}
          description={t('Console.templates.nameHelp')}
        />
        <Select
          label={t('Templating.fields.culture')}
          options={[
            { id: EVERY_LANGUAGE, label: t('Console.templates.everyLanguage') },
            ...languages.map(({ cultureName, displayName }) => ({ id: cultureName, label: displayName })),
          ]}
          value={language}
          onChange={setLanguage}
        />
        <Select
          label={t('Templating.fields.category')}
          options={[
            { id: NO_CATEGORY, label: t('Console.templates.noCategory') },
            ...categories.map((one) => ({ id: one.name, label: one.name })),
          ]}
          value={category}
          onChange={setCategory}
        />
        <Choices
          asCards
          label={t('Console.templates.kind')}
          value={mimeType}
          onChange={setMimeType}
          options={[
            {
              id: 'text/html',
              label: t('Console.templates.kinds.html'),
              description: t('Console.templates.kinds.htmlHelp'),
            },
            {
              id: 'text/plain',
              label: t('Console.templates.kinds.text'),
              description: t('Console.templates.kinds.textHelp'),
            },
          ]}
        />
        {form.failure && <Failure error={form.failure} />}
        <div>
          <Button type="submit" look="primary" isLarge isPending={form.isPending}>
            {t('Console.templates.write')}
          </Button>
        </div>
      </Form>
    </Page>
  );
}
