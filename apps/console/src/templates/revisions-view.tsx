import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { FileText, RotateCcw } from 'lucide-react';
import { Suspense, useState } from 'react';
import {
  previewQuery,
  revisionQuery,
  revisionsQuery,
  templates,
  type TemplateDetail,
  type TemplateRevision,
  type TemplateRevisionSummary,
} from '../api/templates';
import { Button } from '../components/button';
import { Choices } from '../components/choices';
import { LoadMore } from '../components/paged-list';
import { usePersonNames } from '../components/person-names';
import { RelativeTime } from '../components/relative-time';
import { useShownError } from '../components/shown-error';
import { EmptyState, Failure, Skeleton } from '../components/state';
import { lazyPart } from '../components/lazy-part';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { PageFrame } from './page-frame';
import { TemplateStatus } from './template-status';
import { useRenderData } from './use-render-data';

const SourceDiff = lazyPart(
  () => import('./source-diff'),
  ({ SourceDiff }) => SourceDiff,
);

type ReadTemplate = TemplateDetail & { etag?: string | undefined };
type Look = 'source' | 'page';

/** The history of a template: each revision, and how two of them differ. */
export function RevisionsView({ template }: { template: ReadTemplate }) {
  const { t } = useTexts();
  const query = useInfiniteQuery(revisionsQuery({ name: template.name, culture: template.culture }));
  const { data, refetch } = query;
  const error = useShownError(query);
  const revisions = data?.pages.flatMap((page) => page.revisions);
  const nameOf = usePersonNames((revisions ?? []).map(({ createdBy }) => createdBy));
  const [chosen, setChosen] = useState<string>();
  const [look, setLook] = useState<Look>('source');
  // What was read stays when more cannot be.
  if (error && !revisions) return <Failure error={error} onRetry={refetch} />;
  if (!revisions) return <Skeleton lines={5} height="3rem" />;
  const newer = revisions.find(({ revisionId }) => revisionId === chosen) ?? revisions[0];
  const older = newer && revisions[revisions.indexOf(newer) + 1];
  return (
    <div className="revisions">
      <nav className="stack tight" aria-label={t('Templating.history')}>
        <ol className="panel revision-list">
          {revisions.map((revision) => (
            <li key={revision.revisionId}>
              <Revision
                revision={revision}
                author={nameOf(revision.createdBy)}
                isChosen={revision === newer}
                onChoose={() => setChosen(revision.revisionId)}
              />
            </li>
          ))}
        </ol>
        {error && !query.isFetchNextPageError && <Failure error={error} onRetry={refetch} />}
        <LoadMore query={query} />
      </nav>
      <section className="stack" aria-label={t('Console.templates.revisions.difference')}>
        <div className="row spread">
          <Choices
            label={t('Console.templates.revisions.difference')}
            value={look}
            onChange={setLook}
            options={[
              { id: 'source', label: t('Console.templates.source') },
              { id: 'page', label: t('Console.templates.preview.page') },
            ]}
          />
          {newer && newer !== revisions[0] && <Restore template={template} revision={newer} />}
        </div>
        {newer && older && <Difference template={template} older={older} newer={newer} look={look} />}
        {newer && !older && (
          <div className="panel">
            <EmptyState icon={FileText} title={t('Console.templates.revisions.first')} />
          </div>
        )}
      </section>
    </div>
  );
}

interface RevisionProps {
  revision: TemplateRevisionSummary;
  author: string;
  isChosen: boolean;
  onChoose: () => void;
}

function Revision({ revision, author, isChosen, onChoose }: RevisionProps) {
  const { status, createdAt } = revision;
  return (
    <button type="button" className="revision" aria-current={isChosen} onClick={onChoose}>
      <span className="row spread">
        <RelativeTime instant={createdAt} />
        <TemplateStatus status={status} hasPublishedVersion={false} />
      </span>
      <span className="soft small">{author}</span>
    </button>
  );
}

function Restore({ template, revision }: { template: ReadTemplate; revision: TemplateRevisionSummary }) {
  const { t } = useTexts();
  const mayWrite = mayDo(useCaller(), 'Templating.Templates.Manage');
  const queries = useQueryClient();
  const restore = useMutation({
    mutationFn: () =>
      templates.restoreTemplateRevision({
        params: { name: template.name, id: revision.revisionId },
        ifMatch: template.etag,
      }),
    // Also where somebody saved another text meanwhile, so that it is seen before it is restored over.
    onSettled: () => queries.invalidateQueries({ queryKey: ['templates'] }),
  });
  if (!mayWrite) return null;
  return (
    <span className="row">
      {restore.error && <Failure error={restore.error} />}
      <Button isPending={restore.isPending} onPress={() => restore.mutate()}>
        <RotateCcw aria-hidden />
        {t('Console.templates.revisions.restore')}
      </Button>
    </span>
  );
}

interface DifferenceProps {
  template: TemplateDetail;
  older: TemplateRevisionSummary;
  newer: TemplateRevisionSummary;
  look: Look;
}

function Difference({ template, older, newer, look }: DifferenceProps) {
  const { name } = template;
  const { data: before, error: first } = useQuery(revisionQuery(name, older.revisionId));
  const { data: after, error: second } = useQuery(revisionQuery(name, newer.revisionId));
  const error = first ?? second;
  if (error) return <Failure error={error} />;
  if (!before || !after) return <Skeleton lines={6} height="2rem" />;
  if (look === 'page') return <Pages template={template} before={before} after={after} />;
  return (
    <Suspense fallback={<Skeleton lines={6} height="2rem" />}>
      <SourceDiff
        key={`${older.revisionId} ${newer.revisionId}`}
        before={before.content}
        after={after.content}
      />
    </Suspense>
  );
}

interface PagesProps {
  template: TemplateDetail;
  before: TemplateRevision;
  after: TemplateRevision;
}

/** What both revisions make of the same data; what is new is marked. */
function Pages({ template: { name, culture }, before, after }: PagesProps) {
  const { t } = useTexts();
  const { data } = useRenderData({ name, culture }, after.content);
  const rendering = ({ content, mimeType }: TemplateRevision) => ({ name, culture, content, mimeType, data });
  const { data: former, error: first } = useQuery(previewQuery(rendering(before)));
  const { data: latter, error: second } = useQuery(previewQuery(rendering(after)));
  const error = first ?? second;
  if (error) return <Failure error={error} />;
  if (!former || !latter) return <Skeleton lines={6} height="2rem" />;
  return (
    <div className="cultures">
      <section className="panel culture" aria-label={t('Console.templates.revisions.before')}>
        <h2>{t('Console.templates.revisions.before')}</h2>
        <PageFrame title={t('Console.templates.revisions.before')} html={former.html} />
      </section>
      <section className="panel culture" aria-label={t('Console.templates.revisions.after')}>
        <h2>{t('Console.templates.revisions.after')}</h2>
        <PageFrame
          title={t('Console.templates.revisions.after')}
          html={latter.html}
          comparedWith={former.html}
        />
      </section>
    </div>
  );
}
