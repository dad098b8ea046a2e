import { useQueryClient } from '@tanstack/react-query';

/** Reads categories again once one was changed: a new name is that of the templates too. */
export const useCategoryRefresh = () => {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['templates'] });
};
