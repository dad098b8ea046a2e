import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pencil, Tags } from 'lucide-react';
import { Suspense, useDeferredValue, useState } from 'react';
import { categoriesQuery, templates, type TemplateCategory } from '../api/templates';
import { Confirm } from '../components/confirm';
import { IconButton } from '../components/icon-button';
import { Later } from '../components/later';
import { lazyPart } from '../components/lazy-part';
import { Page } from '../components/page';
import { EmptyState, Failure, Skeleton } from '../components/state';
import { TableFrame } from '../components/table-frame';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { BackToTemplates } from './back-to-templates';
import { useCategoryRefresh } from './use-category-refresh';
import './templates.css';

const NewCategory = lazyPart(
  () => import('./category-forms'),
  ({ NewCategory }) => NewCategory,
);
const RenameCategory = lazyPart(
  () => import('./category-forms'),
  ({ RenameCategory }) => RenameCategory,
);

/** The categories by which templates are found: made, renamed and deleted here. */
export function CategoriesPage() {
  const { t } = useTexts();
  const { data, error, refetch } = useQuery(categoriesQuery);
  const categories = useDeferredValue(data);
  const mayManage = mayDo(useCaller(), 'Templating.Categories.Manage');
  return (
    <Page
      title={t('Console.templates.categories.title')}
      lead={t('Console.templates.categories.lead')}
      back={<BackToTemplates />}
    >
      {error && <Failure error={error} onRetry={refetch} />}
      {mayManage && (
        <Later place={<NewCategoryPlace />}>
          <NewCategory />
        </Later>
      )}
      {!categories && !error && <Skeleton lines={5} height="2.6rem" />}
      {categories?.length === 0 && (
        <div className="panel">
          <EmptyState icon={Tags} title={t('Console.templates.categories.none')} />
        </div>
      )}
      {categories && categories.length > 0 && (
        <TableFrame label={t('Console.templates.categories.title')} cardsWhenNarrow>
          <thead>
            <tr>
              <th scope="col">{t('Templating.fields.name')}</th>
              <th scope="col" className="end">
                {t('Platform.areas.templates')}
              </th>
              {mayManage && (
                <th scope="col">
                  <span className="visually-hidden">{t('Console.templates.categories.actions')}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {categories.map((category) => (
              <Row key={category.id} category={category} mayManage={mayManage} />
            ))}
          </tbody>
        </TableFrame>
      )}
    </Page>
  );
}

/** As large as the form, so that nothing moves when it arrives. */
function NewCategoryPlace() {
  const { t } = useTexts();
  return (
    <div className="row preset-form" aria-hidden>
      <div className="field">
        <div className="skeleton" style={{ height: '36px' }} />
      </div>
      <span className="button primary" style={{ visibility: 'hidden' }}>
        {t('Console.templates.categories.create')}
      </span>
    </div>
  );
}

interface RowProps {
  category: TemplateCategory;
  mayManage: boolean;
}

function Row({ category, mayManage }: RowProps) {
  const { t, number } = useTexts();
  const [isRenaming, setRenaming] = useState(false);
  const refresh = useCategoryRefresh();
  const remove = useMutation({
    mutationFn: () => templates.deleteTemplateCategory({ params: { id: category.id } }),
    onSettled: refresh,
  });
  const { name, templateCount } = category;
  return (
    <tr>
      <th scope="row">
        {isRenaming ? (
          <Suspense fallback={name}>
            <RenameCategory category={category} onDone={() => setRenaming(false)} />
          </Suspense>
        ) : (
          name
        )}
        {remove.error && <Failure error={remove.error} />}
      </th>
      <td className="end" data-label={t('Platform.areas.templates')}>
        <Link to="/templates" search={{ category: name }}>
          {number(templateCount)}
        </Link>
      </td>
      {mayManage && (
        <td className="end">
          <span className="row category-actions">
            <IconButton
              label={t('Console.templates.categories.rename', { name })}
              isDisabled={isRenaming}
              onPress={() => setRenaming(true)}
            >
              <Pencil aria-hidden />
            </IconButton>
            {templateCount === 0 ? (
              <Confirm
                look="quiet"
                label={t('Platform.actions.delete')}
                title={t('Console.templates.categories.deleteTitle', { name })}
                confirmLabel={t('Platform.actions.delete')}
                isPending={remove.isPending}
                onConfirm={() => remove.mutate()}
              >
                {t('Console.templates.categories.deleteHelp')}
              </Confirm>
            ) : (
              <span className="soft small">{t('Console.templates.categories.inUse')}</span>
            )}
          </span>
        </td>
      )}
    </tr>
  );
}
