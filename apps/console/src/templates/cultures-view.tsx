import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Languages } from 'lucide-react';
import { useState } from 'react';
import {
  cultureQuery,
  previewQuery,
  templateQuery,
  templates,
  type TemplateDetail,
  type TemplateListItem,
} from '../api/templates';
import { Button } from '../components/button';
import { Choices } from '../components/choices';
import { Select } from '../components/select';
import { Failure, Skeleton } from '../components/state';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { cultureName } from './culture-name';
import { PageFrame } from './page-frame';
import { TemplateStatus } from './template-status';
import { useRenderData } from './use-render-data';

interface CulturesViewProps {
  template: TemplateDetail;
  cultures: readonly TemplateListItem[];
}

type Look = 'page' | 'source';

/** The same template in its languages, side by side. */
export function CulturesView({ template, cultures }: CulturesViewProps) {
  const { t } = useTexts();
  const mayWrite = mayDo(useCaller(), 'Templating.Templates.Manage');
  const [look, setLook] = useState<Look>('page');
  return (
    <div className="stack">
      <div className="row spread cultures-bar">
        <Choices
          label={t('Console.templates.languages.look')}
          value={look}
          onChange={setLook}
          options={[
            { id: 'page', label: t('Console.templates.preview.page') },
            { id: 'source', label: t('Console.templates.source') },
          ]}
        />
        {mayWrite && <AddCulture template={template} cultures={cultures} />}
      </div>
      <div className="cultures">
        {cultures.map((item) => (
          <CultureColumn key={item.culture ?? ''} item={item} look={look} />
        ))}
      </div>
    </div>
  );
}

function CultureColumn({ item, look }: { item: TemplateListItem; look: Look }) {
  const texts = useTexts();
  const { t } = texts;
  const { name, culture, status, hasPublishedVersion, mimeType } = item;
  const key = { name, culture };
  const { data: template, error: notRead } = useQuery(templateQuery(key));
  const content = (template?.draft ?? template?.published)?.content ?? '';
  const { data, isSound } = useRenderData(key, content);
  const { data: page, error } = useQuery({
    ...previewQuery({ name, culture, content, mimeType, data }),
    enabled: isSound && look === 'page',
  });
  const failure = notRead ?? error;
  return (
    <section className="panel culture" aria-label={cultureName(texts, culture)}>
      <div className="row spread">
        <h2>
          <Link to="/templates/$name" params={{ name }} search={cultureQuery(culture)}>
            {cultureName(texts, culture)}
          </Link>
        </h2>
        <TemplateStatus status={status} hasPublishedVersion={hasPublishedVersion} />
      </div>
      {failure && <Failure error={failure} />}
      {look === 'source' && (
        <pre className="preview-text" tabIndex={0} aria-label={t('Console.templates.source')}>
          {content}
        </pre>
      )}
      {look === 'page' &&
        (page ? (
          <PageFrame title={cultureName(texts, culture)} html={page.html} />
        ) : (
          !failure && <Skeleton lines={5} height="2rem" />
        ))}
    </section>
  );
}

/** Another language begins with the text of this one. */
function AddCulture({ template, cultures }: CulturesViewProps) {
  const { t, languages } = useTexts();
  const queries = useQueryClient();
  const missing = languages.filter((one) => !cultures.some(({ culture }) => culture === one.cultureName));
  const [language, setLanguage] = useState<string | null>(null);
  const { name, category } = template;
  const stored = template.draft ?? template.published;
  const add = useMutation({
    mutationFn: async (culture: string) => {
      const body = {
        name,
        culture,
        content: stored!.content,
        mimeType: stored!.mimeType,
        ...(category === undefined ? {} : { category }),
      };
      await templates.postTemplate({ body });
    },
    onSuccess: async () => {
      setLanguage(null);
      await queries.invalidateQueries({ queryKey: ['templates'] });
    },
  });
  if (missing.length === 0 || !stored) return null;
  return (
    <div className="row">
      <Select
        hidesLabel
        label={t('Console.templates.languages.choose')}
        placeholder={t('Console.templates.languages.choose')}
        options={missing.map(({ cultureName: id, displayName }) => ({ id, label: displayName }))}
        value={language}
        onChange={setLanguage}
      />
      <Button
        isDisabled={language === null}
        isPending={add.isPending}
        onPress={() => language && add.mutate(language)}
      >
        <Languages aria-hidden />
        {t('Console.templates.languages.add')}
      </Button>
      {add.error && <Failure error={add.error} />}
    </div>
  );
}
