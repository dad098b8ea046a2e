import { templateEndpoints } from '@plinth/contracts/template/endpoints';
import type { Api } from '@plinth/http/api';
import { galleryTemplateNotFound } from '../domain/problems';
import { gallery, inCulture } from '../gallery/gallery';

const { getTemplateGallery, getTemplateGalleryItem } = templateEndpoints;

export function mountGallery(api: Api): void {
  api.on(getTemplateGallery, ({ query: { culture } }) =>
    gallery.map((template) => {
      const { name, title, description, category, formats } = inCulture(template, culture);
      return { name, title, description, category, formats };
    }),
  );

  api.on(getTemplateGalleryItem, ({ params: { name }, query: { culture } }) => {
    const template = gallery.find((one) => one.name === name);
    if (!template) throw galleryTemplateNotFound(name);
    return inCulture(template, culture);
  });
}
