import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pencil, Tags } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { categoriesQuery, templates, type TemplateCategory } from '../api/templates';
import { Button } from '../components/button';
import { Confirm } from '../components/confirm';
import { IconButton } from '../components/icon-button';
import { Page } from '../components/page';
import { EmptyState, Failure, Skeleton } from '../components/state';
import { TableFrame } from '../components/table-frame';
import { TextField } from '../components/text-field';
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
        <TableFrame label={t('Console.templates.categories.title')}>
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

function NewCategory() {
  const { t } = useTexts();
  const [name, setName] = useState('');
  const refresh = useRefresh();
  const create = useMutation({
    mutationFn: () => templates.postTemplateCategory({ body: { name: name.trim() } }),
    onSuccess: async () => {
      setName('');
      await refresh();
    },
  });
  return (
    <div className="stack tight">
      <Form
        className="row preset-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim()) create.mutate();
        }}
      >
        <TextField
          hidesLabel
          label={t('Console.templates.categories.newName')}
          placeholder={t('Console.templates.categories.newName')}
          value={name}
          onChange={setName}
        />
        <Button type="submit" look="primary" isPending={create.isPending} isDisabled={name.trim() === ''}>
          {t('Console.templates.categories.create')}
        </Button>
      </Form>
      {create.error && <Failure error={create.error} />}
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
      <td className="end">
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
  const [name, setName] = useState(category.name);
  const refresh = useRefresh();
  const rename = useMutation({
    mutationFn: () => {
      const { id, description, icon, sortOrder } = category;
      const body = { name: name.trim(), description, icon, sortOrder };
      return templates.putTemplateCategory({ params: { id }, body });
    },
    onSuccess: async () => {
      await refresh();
      onDone();
    },
  });
  return (
    <div className="stack tight">
      <Form
        className="row preset-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() === category.name) onDone();
          else if (name.trim()) rename.mutate();
        }}
      >
        <TextField
          autoFocus
          hidesLabel
          label={t('Console.templates.categories.newName')}
          value={name}
          onChange={setName}
        />
        <Button type="submit" isPending={rename.isPending} isDisabled={name.trim() === ''}>
          {t('Platform.actions.save')}
        </Button>
        <Button look="quiet" onPress={onDone}>
          {t('Platform.actions.cancel')}
        </Button>
      </Form>
      {rename.error && <Failure error={rename.error} />}
    </div>
  );
}
