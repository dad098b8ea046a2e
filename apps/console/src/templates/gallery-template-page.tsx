import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { useState } from 'react';
import { galleryItemQuery, type GalleryTemplate } from '../api/templates';
import { Page } from '../components/page';
import { Select } from '../components/select';
import { Callout, Failure, Skeleton } from '../components/state';
import { Later } from '../components/later';
import { lazyPart } from '../components/lazy-part';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import './templates.css';

const PreviewPane = lazyPart(
  () => import('./preview-pane'),
  ({ PreviewPane }) => PreviewPane,
);
const CopyForm = lazyPart(
  () => import('./copy-form'),
  ({ CopyForm }) => CopyForm,
);

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
      {error && <Failure error={error} onRetry={refetch} />}
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
        {mayWrite ? (
          <Later place={<Skeleton lines={4} height="5.35rem" />}>
            <CopyForm template={template} />
          </Later>
        ) : (
          <Callout title={t('Console.templates.readOnly')} />
        )}
      </div>
      <Later place={<div className="preview panel" />}>
        <PreviewPane rendering={{ name, culture, content, mimeType, data: sampleData }} />
      </Later>
    </div>
  );
}
