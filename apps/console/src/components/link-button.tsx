import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';

interface LinkButtonProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  look?: 'primary' | 'quiet';
  ref?: Ref<HTMLAnchorElement>;
}

/** A link to another page that looks like a button. */
export const LinkButton = createLink(({ look, ...props }: LinkButtonProps) => (
  <a {...props} className={['button', look].filter(Boolean).join(' ')} />
));
