import { Button as AriaButton } from 'react-aria-components/Button';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import type { ButtonProps } from './button';

/** A button that shows an icon only; its name is read aloud and shown on hover and focus. */
export function IconButton({ label, look = 'quiet', ...props }: ButtonProps & { label: string }) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton {...props} aria-label={label} className={`button icon-only ${look}`} />
      <Tooltip className="tooltip" offset={6}>
        {label}
      </Tooltip>
    </TooltipTrigger>
  );
}
