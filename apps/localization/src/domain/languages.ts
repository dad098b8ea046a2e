export interface Language {
  cultureName: string;
  /** In the language itself, as a list of languages shows it. */
  displayName: string;
  /** ISO 3166 code of the country whose flag stands for it. */
  flagIcon: string;
  isDefault: boolean;
}

export const DEFAULT_CULTURE = 'en';

/** The languages of the platform's own texts, in the order in which a list shows them. */
export const languages: readonly Language[] = [
  { cultureName: 'fr', displayName: 'Français', flagIcon: 'fr', isDefault: false },
  { cultureName: 'fr-CA', displayName: 'Français (Canada)', flagIcon: 'ca', isDefault: false },
  { cultureName: DEFAULT_CULTURE, displayName: 'English', flagIcon: 'us', isDefault: true },
  { cultureName: 'en-GB', displayName: 'English (United Kingdom)', flagIcon: 'gb', isDefault: false },
];
