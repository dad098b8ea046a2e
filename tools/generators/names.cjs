/** @param {string} kebab */
const pascal = (kebab) => kebab.replace(/(^|-)([a-z0-9])/g, (_, _dash, letter) => letter.toUpperCase());
/** @param {string} kebab */
const camel = (kebab) => pascal(kebab).replace(/^./, (letter) => letter.toLowerCase());
/** @param {string} kebab */
const snake = (kebab) => kebab.replaceAll('-', '_');
/** @param {string} kebab */
const words = (kebab) => kebab.replaceAll('-', ' ');

/**
 * A service and what it keeps, spelled as each place wants it.
 * @param {string} area
 * @param {string} [entity]
 */
function namesOf(area, entity = area.replace(/s$/, '')) {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(area)) throw new Error(`"${area}" is no name in kebab-case.`);
  return {
    area,
    Area: pascal(area),
    areaVar: camel(area),
    AREA: snake(area).toUpperCase(),
    area_: snake(area),
    entity,
    Entity: pascal(entity),
    entityVar: camel(entity),
    entity_: snake(entity),
    entityWords: words(entity),
    areaWords: words(area),
  };
}

module.exports = { namesOf, pascal, camel };
