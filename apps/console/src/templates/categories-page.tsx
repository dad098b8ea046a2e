import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pencil, Tags } from 'lucide-react';
import { useState } from 'react';
import { categoriesQuery, templates, type TemplateCategory } from '../api/templates';
import { Button } from '../components/button';
import { Confirm } from '../components/confirm';
import { IconButton } from '../components/icon-button';
import { Page } from '../components/page';
import { EmptyState, Failure, Skeleton } from '../components/state';
import { TableFrame } from '../components/table-frame';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { BackToTemplates } from './back-to-templates';
import './templates.css';

/** The categories by which templates are found: made, renamed and deleted here. */
export function CategoriesPage() {
  const { t } = useTexts();
  const { data: categories, error, refetch } = useQuery(categoriesQuery);
  const mayManage = mayDo(useCaller(), 'Templating.Categories.Manage');
  return (
    <Page
      title={t('Console.templates.categories.title')}
      lead={t('Console.templates.categories.lead')}
      back={<BackToTemplates />}
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {mayManage && <NewCategory />}
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

/** A new name is that of the templates too. */
const useRefresh = () => {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['templates'] });
};

const categoryForm = { shape: 'category', problems: { 'category-exists': 'name' } } as const;

function NewCategory() {
  const { t } = useTexts();
  const refresh = useRefresh();
  const form = useContractForm({
    ...categoryForm,
    defaultValues: { name: '' },
    send: ({ name }) => templates.postTemplateCategory({ body: { name: name.trim() } }),
    onSent: async () => {
      form.reset();
      await refresh();
    },
  });
  return (
    <div className="stack tight">
      <Form form={form} className="row preset-form">
        <FormField
          form={form}
          name="name"
          hidesLabel
          label={t('Console.templates.categories.newName')}
          placeholder={t('Console.templates.categories.newName')}
        />
        <Button type="submit" look="primary" isPending={form.isPending}>
          {t('Console.templates.categories.create')}
        </Button>
      </Form>
      {form.failure && <Failure error={form.failure} />}
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
  const refresh = useRefresh();
  const remove = useMutation({
    mutationFn: () => templates.deleteTemplateCategory({ params: { id: category.id } }),
    onSettled: refresh,
  });
  const { name, templateCount } = category;
  return (
    <tr>
      <th scope="row">
        {isRenaming ? <Rename category={category} onDone={() => setRenaming(false)} /> : name}
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

function Rename({ category, onDone }: { category: TemplateCategory; onDone: () => void }) {
  const { t } = useTexts();
  const refresh = useRefresh();
  const form = useContractForm({
    ...categoryForm,
    defaultValues: { name: category.name },
    send: async ({ name }) => {
      const { id, description, icon, sortOrder } = category;
      if (name.trim() === category.name) return;
      const body = { name: name.trim(), description, icon, sortOrder };
      await templates.putTemplateCategory({ params: { id }, body });
    },
    onSent: async () => {
      await refresh();
      onDone();
    },
  });
  return (
    <div className="stack tight">
      <Form form={form} className="row preset-form">
        <FormField
          form={form}
          name="name"
          autoFocus
          hidesLabel
          label={t('Console.templates.categories.newName')}
        />
        <Button type="submit" isPending={form.isPending}>
          {t('Platform.actions.save')}
        </Button>
        <Button look="quiet" onPress={onDone}>
          {t('Platform.actions.cancel')}
        </Button>
      </Form>
      {form.failure && <Failure error={form.failure} />}
    </div>
  );
}
