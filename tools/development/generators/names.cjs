/** @param {string} kebab */
const pascal = (kebab) => kebab.replace(/(^|-)([a-z0-9])/g, (_, _dash, letter) => letter.toUpperCase());
/** @param {string} kebab */
const camel = (kebab) => pascal(kebab).replace(/^./, (letter) => letter.toLowerCase());
/** @param {string} kebab */
const snake = (kebab) => kebab.replaceAll('-', '_');
/** @param {string} kebab */
const words = (kebab) => kebab.replaceAll('-', ' ');

/**
 * The names of a service and of its entity, spelled as each place needs them.
 * @param {string} service
 * @param {string} [entity]
 */
function namesOf(service, entity = service.replace(/s$/, '')) {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(service))
    throw new Error(`"${service}" is no name in kebab-case.`);
  return {
    service,
    Service: pascal(service),
    serviceVar: camel(service),
    SERVICE: snake(service).toUpperCase(),
    service_: snake(service),
    entity,
    Entity: pascal(entity),
    entityVar: camel(entity),
    entity_: snake(entity),
    entityWords: words(entity),
    EntityWords: words(entity).replace(/^./, (letter) => letter.toUpperCase()),
    serviceWords: words(service),
  };
}

module.exports = { namesOf, pascal, camel, words };
