const denied = {
  resourceName: 'Workflow',
  cultureName: 'fr',
  key: 'outcomes.Denied',
  value: 'Refusé par la direction',
};

/** Examples of the shapes of localization, by the names of the shapes. */
export const localizationExamples: Record<string, unknown> = {
  LanguageInfo: { cultureName: 'fr', displayName: 'Français', flagIcon: 'FR', isDefault: false },
  ResourceTexts: { [denied.key]: denied.value },
  LocalizationBootstrap: {
    currentCulture: 'fr',
    cultureName: 'fr',
    resources: { Workflow: { 'outcomes.Completed': 'Effectué', [denied.key]: denied.value } },
    languages: [
      { cultureName: 'en', displayName: 'English', flagIcon: 'GB', isDefault: true },
      { cultureName: 'fr', displayName: 'Français', flagIcon: 'FR', isDefault: false },
    ],
  },
  LocalizationOverride: denied,
  SaveLocalizationOverride: { ...denied, formerValue: 'Rejeté' },
  SaveLocalizationOverrideRequest: { value: denied.value },
  SaveLocalizationOverridesRequest: { items: [denied] },
  RemoveLocalizationOverride: {
    resourceName: 'Workflow',
    cultureName: 'fr',
    key: denied.key,
    formerValue: denied.value,
  },
  LocalizationText: {
    resourceName: 'Workflow',
    key: denied.key,
    values: [
      {
        cultureName: 'fr',
        platformValue: 'Refusé',
        platformCulture: 'fr',
        value: denied.value,
        replacedValue: 'Refusé',
        hasDrifted: false,
      },
    ],
  },
};
