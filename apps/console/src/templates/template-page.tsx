import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Suspense, useDeferredValue, useState } from 'react';
import { culturesQuery, cultureQuery, templateQuery, type TemplateKey } from '../api/templates';
import { LinkButton } from '../components/link-button';
import { Page } from '../components/page';
import { Failure, Skeleton } from '../components/state';
import { lazyPart } from '../components/lazy-part';
import { useTexts } from '../texts/texts';
import { BackToTemplates } from './back-to-templates';
import { cultureName } from './culture-name';
import { LifecycleMenu, LifecyclePlace } from './lifecycle-menu';
import { WriteView } from './write-view';
import './templates.css';

const CulturesView = lazyPart(
  () => import('./cultures-view'),
  ({ CulturesView }) => CulturesView,
);
const RevisionsView = lazyPart(
  () => import('./revisions-view'),
  ({ RevisionsView }) => RevisionsView,
);

const views = ['write', 'languages', 'revisions'] as const;
const loading = <Skeleton lines={5} height="5rem" />;

/** One template: its source beside what it becomes, its languages, and its history. */
export function TemplatePage() {
  const texts = useTexts();
  const { t } = texts;
  const { name } = useParams({ from: '/shell/templates/$name' });
  const { culture, view = 'write' } = useSearch({ from: '/shell/templates/$name' });
  const key: TemplateKey = { name, culture };
  const { data, error, refetch } = useQuery(templateQuery(key));
  // It may still be the one from before, which must not become another one's text.
  const template = useDeferredValue(data);
  const shown = template && `${template.name}~${template.culture ?? ''}`;
  const { data: cultures = [] } = useQuery(culturesQuery(name));
  const [hasUnsavedText, setHasUnsavedText] = useState(false);
  return (
    <Page
      isWide
      title={name}
      back={<BackToTemplates />}
      lead={[cultureName(texts, culture), template?.category].filter(Boolean).join(' · ')}
      actions={
        template ? (
          <LifecycleMenu key={shown} template={template} hasUnsavedText={hasUnsavedText} />
        ) : (
          !error && <LifecyclePlace />
        )
      }
    >
      <nav className="tabs" aria-label={t('Console.templates.views.label')}>
        {views.map((one) => (
          <Link
            key={one}
            to="/templates/$name"
            params={{ name }}
            search={{ ...cultureQuery(culture), ...(one === 'write' ? {} : { view: one }) }}
            className="tab"
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {t(`Console.templates.views.${one}`)}
          </Link>
        ))}
      </nav>
      {error && <Failure error={error} onRetry={refetch} />}
      {error && cultures.length > 0 && (
        <div className="row">
          {cultures.map((one) => (
            <LinkButton
              key={one.culture ?? ''}
              to="/templates/$name"
              params={{ name }}
              search={cultureQuery(one.culture)}
            >
              {cultureName(texts, one.culture)}
            </LinkButton>
          ))}
        </div>
      )}
      {!template && !error && loading}
      {template && (
        <Suspense fallback={loading}>
          {view === 'write' && (
            <WriteView
              key={shown}
              template={template}
              cultures={cultures}
              onUnsavedChange={setHasUnsavedText}
            />
          )}
          {view === 'languages' && <CulturesView template={template} cultures={cultures} />}
          {view === 'revisions' && <RevisionsView key={shown} template={template} />}
        </Suspense>
      )}
    </Page>
  );
}
