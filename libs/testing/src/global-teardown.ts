import { removeEventStreams } from './event-streams';
import { removeRunDirectory } from './run-directory';
import { stopSharedPlatforms } from './shared-platform';

/** Ends after all tests what they shared. */
// eslint-disable-next-line no-restricted-syntax -- jest requires a default export
export default async function globalTeardown(): Promise<void> {
  await stopSharedPlatforms();
  try {
    await removeEventStreams();
  } finally {
    await removeRunDirectory();
  }
}
