-- Templates get another ETag when their category is renamed, in the update that carries them along: a second one wrote each
-- of them once more. Whatever else gives a template another category counts its versions itself.
CREATE FUNCTION count_renamed_category() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER template_category_renamed BEFORE UPDATE OF category_name ON template
  FOR EACH ROW WHEN (NEW.version = OLD.version AND NEW.category_name IS DISTINCT FROM OLD.category_name)
  EXECUTE FUNCTION count_renamed_category();
