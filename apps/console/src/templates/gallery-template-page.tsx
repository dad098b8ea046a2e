import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { categoriesQuery, galleryItemQuery, templates, type GalleryTemplate } from '../api/templates';
import { Button } from '../components/button';
import { Checkbox } from '../components/choices';
import { Page } from '../components/page';
import { Select } from '../components/select';
import { Callout, Failure, Skeleton } from '../components/state';
import { TextField } from '../components/text-field';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { PreviewPane } from './preview-pane';
import { rememberSample } from './use-sample-data';
import './templates.css';

/** One template of the gallery, with what is needed to copy it. */
export function GalleryTemplatePage() {
  const { t, culture } = useTexts();
  const { name } = useParams({ from: '/shell/template-gallery/$name' });
  const [language, setLanguage] = useState(culture);
  const { data: template, error, refetch } = useQuery(galleryItemQuery(name, language));
  return (
    <Page
      isWide
      title={template?.title ?? t('Console.templates.gallery.title')}
      lead={template?.description}
      back={
        <Link to="/template-gallery" className="back-link">
          <ChevronLeft aria-hidden />
          {t('Console.templates.gallery.title')}
        </Link>
      }
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!template && !error && <Skeleton lines={4} height="8rem" />}
      {template && <CopyAndLook template={template} language={language} onLanguage={setLanguage} />}
    </Page>
  );
}

interface CopyAndLookProps {
  template: GalleryTemplate;
  language: string;
  onLanguage: (language: string) => void;
}

function CopyAndLook({ template, language, onLanguage }: CopyAndLookProps) {
  const { t, languages } = useTexts();
  const mayWrite = mayDo(useCaller(), 'Templating.Templates.Manage');
  const { name, culture, content, mimeType, sampleData } = template;
  return (
    <div className="gallery-copy">
      <div className="stack loose">
        <Select
          label={t('Console.templates.gallery.lookIn')}
          options={languages.map((one) => ({ id: one.cultureName, label: one.displayName }))}
          value={language}
          onChange={onLanguage}
        />
        {mayWrite ? <CopyForm template={template} /> : <Callout title={t('Console.templates.readOnly')} />}
      </div>
      <PreviewPane rendering={{ name, culture, content, mimeType, data: sampleData }} />
    </div>
  );
}

function CopyForm({ template }: { template: GalleryTemplate }) {
  const { t, languages } = useTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: categories = [] } = useQuery(categoriesQuery);
  const [name, setName] = useState(template.name);
  const [chosen, setChosen] = useState(languages.map(({ cultureName }) => cultureName));
  const copy = useMutation({
    mutationFn: async () => {
      const category = categories.some((one) => one.name === template.category)
        ? { category: template.category }
        : {};
      for (const culture of chosen) {
        const source = await queries.fetchQuery(galleryItemQuery(template.name, culture));
        const body = {
          name: name.trim(),
          culture,
          content: source.content,
          mimeType: source.mimeType,
          ...category,
        };
        await templates.postTemplate({ body });
        rememberSample({ name: body.name, culture }, source.sampleData);
      }
      void queries.invalidateQueries({ queryKey: ['templates'] });
      const params = { name: name.trim() };
      await navigate({
        to: '/templates/$name',
        params,
        search: { culture: chosen.includes(template.culture) ? template.culture : chosen[0]! },
      });
    },
  });
  return (
    <Form
      className="panel padded stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() && chosen.length > 0) copy.mutate();
      }}
    >
      <h2>{t('Console.templates.gallery.copyTitle')}</h2>
      <TextField
        label={t('Templating.fields.name')}
        description={t('Console.templates.nameHelp')}
        value={name}
        onChange={setName}
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
      {copy.error && <Failure error={copy.error} />}
      <div>
        <Button
          type="submit"
          look="primary"
          isLarge
          isPending={copy.isPending}
          isDisabled={name.trim() === '' || chosen.length === 0}
        >
          {t('Console.templates.gallery.copy')}
        </Button>
      </div>
    </Form>
  );
}
