import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { categoriesQuery, galleryItemQuery, templates, type GalleryTemplate } from '../api/templates';
import { Button } from '../components/button';
import { Checkbox } from '../components/choices';
import { Failure } from '../components/state';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { useTexts } from '../texts/texts';
import { nameProblems, nameWords } from './template-name';
import { rememberSample } from './use-sample-data';

/** Makes a template of the tenant from one of the gallery, in some languages. */
export function CopyForm({ template }: { template: GalleryTemplate }) {
  const { t, languages } = useTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: categories = [] } = useQuery(categoriesQuery);
  const [chosen, setChosen] = useState(languages.map(({ cultureName }) => cultureName));
  const form = useContractForm({
    shape: 'template',
    defaultValues: { name: template.name },
    words: nameWords,
    problems: nameProblems,
    send: async (values) => {
      const name = values.name.trim();
      const category = categories.some((one) => one.name === template.category)
        ? { category: template.category }
        : {};
      for (const culture of chosen) {
        const source = await queries.fetchQuery(galleryItemQuery(template.name, culture));
        const body = {
          name,
          culture,
          content: source.content,
          mimeType: source.mimeType,
          ...category,
        };
        await templates.postTemplate({ body });
        rememberSample({ name: body.name, culture }, source.sampleData);
      }
      void queries.invalidateQueries({ queryKey: ['templates'] });
      const params = { name };
      await navigate({
        to: '/templates/$name',
        params,
        search: { culture: chosen.includes(template.culture) ? template.culture : chosen[0]! },
      });
    },
  });
  return (
    <Form form={form} className="panel padded stack">
      <h2>{t('Console.templates.gallery.copyTitle')}</h2>
      <FormField
        form={form}
        name="name"
        label={t('Templating.fields.name')}
        description={t('Console.templates.nameHelp')}
      />
      <fieldset className="stack tight">
        <legend>{t('Console.templates.gallery.languages')}</legend>
        {languages.map(({ cultureName, displayName }) => (
          <Checkbox
            key={cultureName}
            isSelected={chosen.includes(cultureName)}
            onChange={(isWanted) =>
              setChosen(
                isWanted ? [...chosen, cultureName] : chosen.filter((culture) => culture !== cultureName),
              )
            }
          >
            {displayName}
          </Checkbox>
        ))}
      </fieldset>
      {form.failure && <Failure error={form.failure} />}
      <div>
        <Button
          type="submit"
          look="primary"
          isLarge
          isPending={form.isPending}
          isDisabled={chosen.length === 0}
        >
          {t('Console.templates.gallery.copy')}
        </Button>
      </div>
    </Form>
  );
}
