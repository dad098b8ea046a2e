import { MutationCache } from '@tanstack/react-query';

/**
 * Mutations that do what their page said when they were asked for. One that waits, for a connection or for another one
 * of its scope, would otherwise do what the page says by then: of another choice, revision or text.
 */
export class AskedMutations extends MutationCache {
  override build: MutationCache['build'] = (...input) => {
    const mutation = super.build(...input);
    // Called by whoever asked each time it is drawn.
    mutation.setOptions = () => undefined;
    return mutation;
  };
}
