import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { galleryItemQuery, galleryQuery, previewQuery, type GalleryItem } from '../api/templates';
import { useNearWindow } from '../components/near-window';
import { Page } from '../components/page';
import { Badge, Failure, Skeleton } from '../components/state';
import { useTexts } from '../texts/texts';
import { BackToTemplates } from './back-to-templates';
import { formatNames } from './format-names';
import { PageFrame } from './page-frame';
import './templates.css';

/** Templates of the platform to begin with. */
export function GalleryPage() {
  const { t, culture } = useTexts();
  const { data: items, error, refetch } = useQuery(galleryQuery(culture));
  return (
    <Page
      isWide
      title={t('Console.templates.gallery.title')}
      lead={t('Console.templates.gallery.lead')}
      back={<BackToTemplates />}
    >
      {error && <Failure error={error} onRetry={refetch} />}
      {!items && !error && <Skeleton lines={4} height="12rem" />}
      <ul className="gallery">
        {items?.map((item) => (
          <GalleryCard key={item.name} item={item} />
        ))}
      </ul>
    </Page>
  );
}

function GalleryCard({ item: { name, title, description, category, formats } }: { item: GalleryItem }) {
  const { t, culture } = useTexts();
  return (
    <li className="panel gallery-card">
      <Picture name={name} culture={culture} />
      <div className="stack tight gallery-text">
        <span className="soft small">{category}</span>
        <h2>
          <Link to="/template-gallery/$name" params={{ name }} className="cover-card">
            {title}
          </Link>
        </h2>
        <p className="soft">{description}</p>
        <span className="row">
          {formats.map((format) => (
            <Badge key={format}>{t(`Templating.format.${formatNames[format]!}`)}</Badge>
          ))}
        </span>
      </div>
    </li>
  );
}

function Picture({ name, culture }: { name: string; culture: string }) {
  const place = useRef<HTMLDivElement>(null);
  const isNear = useNearWindow(place);
  const { data: template } = useQuery({ ...galleryItemQuery(name, culture), enabled: isNear });
  const { data: page } = useQuery({
    ...previewQuery({
      name,
      culture: template?.culture,
      content: template?.content ?? '',
      mimeType: template?.mimeType ?? '',
      data: template?.sampleData ?? {},
    }),
    staleTime: Infinity,
  });
  return (
    <div ref={place} className="gallery-picture" aria-hidden>
      {page && <PageFrame isPicture title={name} html={page.html} />}
    </div>
  );
}
