/**
 * The words that mean something to the scanner. General words are the English articles, pronouns, prepositions,
 * conjunctions, auxiliaries and the commonest adverbs: what "keywords" leaves out.
 */
import {
  AGO,
  AGO_BEFORE,
  AS,
  CLASS_AD,
  CLASS_AD_SHORT,
  CLASS_SLOT,
  CLASS_STAMP,
  COPYRIGHT,
  enterWords,
  HASHED,
  LAST,
  MONTH,
  NEW,
  OF,
  RENEW,
  ROLE_TEMPLATE,
  STAMP,
  STAMP_LAST,
  STOP,
  UNIT,
  WEEKDAY,
  ZONE,
} from './tables';

export function enterAllWords(): void {
  enterStopWords();
  enterDateWords();
  enterStampWords();
  enterClassWords();
}

function enterStopWords(): void {
  enterWords(
    'a an the this that these those some any each every all both no not nor only own same such than too very',
    STOP,
  );
  enterWords('i me my mine we us our ours you your yours he him his she her hers it its they them their theirs', STOP);
  enterWords('myself ourselves yourself yourselves himself herself itself themselves who whom whose which what', STOP);
  enterWords('about above across after against along among around at before behind below beneath beside between', STOP);
  enterWords('beyond by down during for from in inside into near of off on onto out outside over per since', STOP);
  enterWords('through to toward towards under until up upon via with within without', STOP);
  enterWords('and but or so yet if then else because as while although though unless whether when where why how', STOP);
  enterWords(
    'am is are was were be been being do does did doing done have has had having can could may might must',
    STOP,
  );
  enterWords(
    'shall should will would ought cannot s t d ll m re ve don doesn didn isn aren wasn weren hasn haven',
    STOP,
  );
  enterWords(
    'here there now again once just also more most other few further ever never often still even much many',
    STOP,
  );
}

function enterDateWords(): void {
  enterWords('january february march april may june july august september october november december', MONTH);
  enterWords('jan feb mar apr jun jul aug sep sept oct nov dec', MONTH);
  enterWords('januar februar märz mai juni juli oktober dezember jänner', MONTH);
  enterWords('janvier février mars avril juin juillet août septembre octobre novembre décembre', MONTH);
  enterWords('enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre', MONTH);
  enterWords('janeiro fevereiro março maio junho julho setembro outubro novembro dezembro', MONTH);
  enterWords('gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre', MONTH);
  enterWords('januari februari maart mei augustus', MONTH);
  enterWords(
    'stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia',
    MONTH,
  );
  enterWords('января февраля марта апреля мая июня июля августа сентября октября ноября декабря', MONTH);
  enterWords(
    'monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun',
    WEEKDAY,
  );
  enterWords(
    'second seconds minute minutes min mins hour hours day days week weeks month months year years sec secs',
    UNIT,
  );
  enterWords('sekunden minuten stunde stunden tag tagen woche wochen monat monaten jahr jahren', UNIT);
  enterWords('secondes heure heures jour jours semaine semaines mois ans', UNIT);
  enterWords('segundos minutos hora horas día días dias semana semanas mes meses año años', UNIT);
  enterWords('utc gmt z est edt cst cdt mst mdt pst pdt cet cest bst ist jst msk aest am pm', ZONE);
  enterWords('ago geleden fa temu назад sedan siden', AGO);
  enterWords('vor hace il há', AGO_BEFORE);
  enterWords('dag dagen uur weken maanden jaar minuut giorno giorni ora ore settimane mesi anni minuti', UNIT);
  enterWords('dzień dni godzin godziny minut tygodni miesięcy lat dagar timmar veckor dage timer', UNIT);
  enterWords('день дня дней час часа часов минут минуты недели недель месяцев месяца лет года', UNIT);
  enterWords('dia minutos mês ano anos', UNIT);
}

/** "Updated", "generated" and the like, in twelve languages. */
function enterStampWords(): void {
  enterWords(
    'updated modified generated revised built rebuilt compiled rendered edited changed refreshed timestamp',
    STAMP,
  );
  enterWords('copyright ©', STAMP | COPYRIGHT);
  enterWords('commit commits revision rev sha sha1 sha256 hash build git changeset checksum', HASHED);
  enterWords('last latest date page', LAST);
  enterWords('update change edit build revision modification refresh commit', STAMP_LAST);
  enterWords('as', AS);
  enterWords('of', OF);
  enterWords('更', RENEW);
  enterWords('新', NEW);
  enterWords('aktualisiert geändert generiert stand bearbeitet änderung aktualisierung', STAMP);
  enterWords('modifié modifiée généré générée révisé', STAMP);
  enterWords('actualizado actualizada actualización modificado modificada generado', STAMP);
  enterWords('atualizado atualizada atualização gerado modificação', STAMP);
  enterWords('aggiornato aggiornata aggiornamento modificato modifica generato', STAMP);
  enterWords('bijgewerkt gewijzigd gegenereerd', STAMP);
  enterWords('zaktualizowano aktualizacja zmodyfikowano wygenerowano', STAMP);
  enterWords('обновлено обновлена изменено изменена сгенерировано обновление', STAMP);
  enterWords('업데이트 수정 수정일', STAMP);
  enterWords('uppdaterad ändrad opdateret päivitetty', STAMP);
}

function enterClassWords(): void {
  enterWords('adsbygoogle adslot adunit adbox', CLASS_AD);
  enterWords('ad ads advert advertisement', CLASS_AD_SHORT);
  enterWords('slot unit banner container box wrapper block space placeholder sidebar', CLASS_SLOT);
  enterWords('navigation banner contentinfo', ROLE_TEMPLATE);
  enterWords('updated modified generated revised revision lastmod lastmodified lastupdated datemodified', CLASS_STAMP);
  enterWords('timestamp built copyright', CLASS_STAMP);
}
