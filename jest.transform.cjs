const { createTransformer } = require('@swc/jest');

const transformer = createTransformer({ jsc: { target: 'es2024' }, module: { type: 'commonjs' } });

/**
 * Compiles for jest, and finds what was compiled before, whichever project that was for: jest's own key holds the whole
 * configuration, in which the folder of the specs (`--roots`) differs, so that each project compiled all libraries again.
 * @type {ReturnType<typeof createTransformer>}
 */
module.exports = {
  ...transformer,
  getCacheKey: (source, file, options) =>
    transformer.getCacheKey(source, file, { ...options, configString: '' }),
};
