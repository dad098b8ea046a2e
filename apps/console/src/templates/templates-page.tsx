import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { FileText, LayoutTemplate, Plus, Search, Tags } from 'lucide-react';
import { Input } from 'react-aria-components/Input';
import { SearchField } from 'react-aria-components/SearchField';
import {
  categoriesQuery,
  cultureQuery,
  templatesQuery,
  type TemplateFilters,
  type TemplateListItem,
} from '../api/templates';
import { ColumnTable } from '../components/column-table';
import { LinkButton } from '../components/link-button';
import { Page } from '../components/page';
import { PagedList } from '../components/paged-list';
import { RelativeTime } from '../components/relative-time';
import { Select } from '../components/select';
import { EmptyState } from '../components/state';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { cultureName } from './culture-name';
import { statusNames, TemplateStatus } from './template-status';
import './templates.css';

/** The templates of the tenant, the last changed first. */
export function TemplatesPage() {
  const { t } = useTexts();
  const caller = useCaller();
  const mayWrite = mayDo(caller, 'Templating.Templates.Manage');
  const { search = '', status = '', category = '', kind = '' } = useSearch({ from: '/shell/templates' });
  const filters = { search, status, category, mimeType: kind };
  const query = useInfiniteQuery(templatesQuery(filters));
  const isFiltered = Object.values(filters).some((value) => value !== '');
  const begin = mayWrite && (
    <>
      <LinkButton to="/template-gallery">
        <LayoutTemplate aria-hidden />
        {t('Console.templates.gallery.title')}
      </LinkButton>
      <LinkButton to="/new-template" look="primary">
        <Plus aria-hidden />
        {t('Console.templates.new')}
      </LinkButton>
    </>
  );
  return (
    <Page
      title={t('Platform.areas.templates')}
      lead={t('Console.templates.lead')}
      actions={
        <>
          {mayDo(caller, 'Templating.Categories.Manage') && (
            <LinkButton to="/template-categories">
              <Tags aria-hidden />
              {t('Console.templates.categories.title')}
            </LinkButton>
          )}
          {begin}
        </>
      }
    >
      <Filters filters={filters} />
      <PagedList
        query={query}
        skeleton={{ lines: 8, height: '2.6rem' }}
        empty={
          isFiltered ? (
            <EmptyState icon={Search} title={t('Platform.lists.noMatches')} />
          ) : (
            <EmptyState
              icon={FileText}
              title={t('Console.templates.none')}
              action={mayWrite && <span className="row">{begin}</span>}
            >
              {t('Console.templates.noneHelp')}
            </EmptyState>
          )
        }
      >
        {(items) => <TemplateTable items={items} />}
      </PagedList>
    </Page>
  );
}

function Filters({ filters }: { filters: TemplateFilters }) {
  const { t } = useTexts();
  const navigate = useNavigate();
  const { data: categories = [] } = useQuery(categoriesQuery);
  const change = (next: { search?: string; status?: string; category?: string; kind?: string }) =>
    void navigate({
      from: '/templates',
      search: (former) => {
        const all = Object.entries({ ...former, ...next }).filter(([, value]) => value !== '');
        return Object.fromEntries(all);
      },
      replace: true,
    });
  const all = { id: '', label: t('Console.templates.all') };
  const statuses = statusNames.map((name, index) => ({
    id: String(index),
    label: t(`Templating.status.${name}`),
  }));
  return (
    <div className="template-filters" role="search">
      <SearchField
        aria-label={t('Console.templates.search')}
        className="search-field"
        value={filters.search}
        onChange={(search) => change({ search })}
      >
        <Search aria-hidden />
        <Input className="input" placeholder={t('Console.templates.search')} />
      </SearchField>
      <Select
        label={t('Templating.fields.status')}
        options={[all, ...statuses]}
        value={filters.status}
        onChange={(status) => change({ status })}
      />
      <Select
        label={t('Templating.fields.category')}
        options={[all, ...categories.map(({ name }) => ({ id: name, label: name }))]}
        value={filters.category}
        onChange={(category) => change({ category })}
      />
      <Select
        label={t('Console.templates.kind')}
        options={[
          all,
          { id: 'text/html', label: t('Console.templates.kinds.html') },
          { id: 'text/plain', label: t('Console.templates.kinds.text') },
        ]}
        value={filters.mimeType}
        onChange={(kind) => change({ kind })}
      />
    </div>
  );
}

function TemplateTable({ items }: { items: readonly TemplateListItem[] }) {
  const texts = useTexts();
  const { t } = texts;
  return (
    <ColumnTable
      label={t('Platform.areas.templates')}
      items={items}
      keyOf={({ name, culture }) => `${name}~${culture ?? ''}`}
      isLinked
      columns={[
        {
          name: t('Templating.fields.name'),
          cell: ({ name, culture }) => (
            <Link to="/templates/$name" params={{ name }} search={cultureQuery(culture)} className="cover">
              {name}
            </Link>
          ),
        },
        { name: t('Templating.fields.culture'), cell: ({ culture }) => cultureName(texts, culture) },
        { name: t('Templating.fields.category'), cell: ({ category }) => category || null },
        { name: t('Templating.fields.status'), cell: (template) => <TemplateStatus {...template} /> },
        {
          name: t('Templating.fields.lastModifiedAt'),
          cell: ({ lastModifiedAt }) => <RelativeTime instant={lastModifiedAt} />,
        },
      ]}
    />
  );
}
