"""Languages of a collection's words: stems by Snowball, stop words, and which language texts are in.

A stop word counts in a query only if all of its words are stop words. The lists below also tell languages apart; for a
language of Snowball without a list, words are stemmed if it is named, and none is a stop word.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from threading import Lock

import Stemmer

from ammi.features.alphabet import terms_of

NO_LANGUAGE = "none"  # words are compared as they are
LONGEST = 64  # characters of a word that is stemmed
_SAMPLE, _BEGINNING = 100, 500  # texts, and characters of each, that tell the language
_FEWEST, _LEAST_SHARE = 5, 0.08  # stop words among the words of these texts

_lock = Lock()  # a stemmer works for one thread at a time

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "danish": "af alle alt at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter "
        "eller en end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvis hvor i ikke ind "
        "jeg jer kan man mange med meget men mig min mod når og også om op os over på samme sig sin skal skulle som "
        "til ud under var vi vil ville være været",
        "dutch": "aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens "
        "en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan "
        "kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over "
        "reeds te tegen toch toen tot u uit uw van veel voor want waren was wat werd wezen wie wil worden wordt zal "
        "ze zelf zich zij zijn zo zonder zou",
        "english": "a about above after again against all am an and any are as at be because been before being below "
        "between both but by can could did do does doing don down during each few for from further had has have "
        "having he her here hers herself him himself his how i if in into is it its itself just me might more most "
        "must my myself no nor not now of off on once only or other our ours ourselves out over own s same shall she "
        "should so some such t than that the their theirs them themselves then there these they this those through "
        "to too under until up upon us very was we were what when where which while who whom whose why will with "
        "would you your yours yourself yourselves",
        "finnish": "ei eivät emme en että he hän häntä ja jo joka jos jotka kanssa kuin kun me mikä minä minun mitä "
        "mukaan mutta myös ne niiden niin niitä nyt näin ole olen oli olivat olla olleet ollut on ovat se sekä sen "
        "siellä siinä sitä tai te tämä tämän tätä vaan vai vain voi",
        "french": "ai alors au aucun aux avait avec avoir bien c car ce cela ces cet cette ceux chez comme d dans de "
        "des donc du elle elles en encore entre est et eu fait faire fut il ils j je l la le les leur leurs lui m "
        "mais me même mes moi mon n ne ni nos notre nous on ont ou où par pas pendant peu peut plus pour puis qu "
        "quand que quel quelle qui s sa sans se sera ses si soit son sont sous sur t ta te tes tous tout toute toutes "
        "très tu un une vers vos votre vous y à ça été être",
        "german": "aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei bin bis bist "
        "da damit dann das dass dein dem den denn der des die dies diese diesem diesen dieser dieses doch dort du "
        "durch ein eine einem einen einer eines er es euch für gegen habe haben hat hatte hatten hier hin hinter ich "
        "ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ist ja jede jedem jeden jeder jedes jener kann kein keine "
        "können könnte machen man manche mein mich mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein "
        "seine seinem seinen seiner sich sie sind so solche soll sollte sondern um und uns unser unter vom von vor "
        "war waren warum was weg weil welche welchem welchen welcher wenn wer werde werden wie wieder will wir wird "
        "wo wurde wurden während zu zum zur zwar zwischen über",
        "hungarian": "a abban ahhoz ahogy aki akik akkor alatt amely amelyek ami az azok azon azt azért be csak de e "
        "egy egyes el előtt ennek és ez ezek ezt fel ha hanem hiszen hogy ide igen ill illetve is itt jó kell "
        "keresztül ki kívül le lehet lesz lett maga majd már más meg mely melyek mert mi mind minden mint nagy ne nem "
        "nincs olyan ott pedig s saját sem sok szerint több tovább új után utolsó vagy vagyis valaki van volt volna",
        "italian": "a ad agli ai al alla alle allo anche avere aveva c che chi ci coi col come con contro cui da dagli "
        "dai dal dalla dalle dallo degli dei del dell della delle dello di dove e ed era erano essere fra gli ha "
        "hanno ho i il in io l la le lei li lo loro lui ma mi mia mio ne negli nei nel nella nelle nello no noi non "
        "nostro o ogni per perché più può quale quando quanto quella quelle quelli quello questa queste questi questo "
        "se sei si sia siamo sono sta stata stati stato su sua sue sugli sui sul sulla sulle suo suoi tra tu tutti "
        "tutto un una uno vi voi è",
        "norwegian": "alle at av bare begge ble bli blir da de deg dem den denne der deres det dette di din disse du "
        "eller en enn er et etter for fordi fra før ha hadde han hans har hennes her hun hva hvem hvis hvor hvordan "
        "hvorfor i ikke ingen inn ja jeg kan kom kun kunne man mange med meg men mer min mot mye nei nå når og også "
        "om opp oss over på samme seg selv si sin sine skal skulle slik som så til ut uten var ved vi vil ville være "
        "vært vår å",
        "portuguese": "a ainda ao aos aquela aquele aqueles as até com como da das de dela dele deles depois do dos e "
        "ela elas ele eles em entre era essa esse esta este está estão eu foi foram fosse há isso isto já lhe mais "
        "mas me mesmo meu minha muito na nas nem no nos nossa nosso num numa não nós o os ou para pela pelas pelo "
        "pelos por qual quando que quem se sem ser seu seus sido só são sua suas também te tem tinha teve tudo tua "
        "têm um uma você vocês à às é",
        "romanian": "a acea aceasta această aceea acel acela aceste acestea acesta acestor ai al ale am apoi ar are "
        "as au avea ca care ce cel cele cei către cine cu cum când da dacă dar de deci deja din doar după ea ei el "
        "ele era este eu fără fi fie fiecare fost iar în între la le lor lui mai mult nici nu o ori pe pentru prin "
        "să sau se si și sunt toate tot un una unde unei unor unui vor",
        "russian": "а без более был была были было быть в вам вас весь во вот все всего всех вы где да даже для до "
        "его ее если есть еще же за здесь и из или им их к как ко когда кто ли либо мне может мы на надо наш не него "
        "нее нет ни них но ну о об однако он она они оно от очень по под при с со так также такой там те тем то того "
        "тоже той только том ты у уже хотя чего чей чем что чтобы чье эта эти это этого этой этом этот я",
        "spanish": "a al algo algunas algunos ante antes como con contra cual cuando de del desde donde durante e el "
        "ella ellas ellos en entre era eran es esa ese eso esta estaba estado estas este esto estos está están fue "
        "fueron ha haber había han has hasta hay la las le les lo los me mi mis mucho muy más ni no nos nosotros "
        "nuestra nuestro o os otra otro para pero poco por porque que quien se sea según ser si sido sin sobre son su "
        "sus sí también tanto te tiene tienen todo todos tu un una uno unos y ya yo él",
        "swedish": "alla allt att av blev bli blir blivit de dem den denna deras dess det detta dig din dina du där då "
        "efter ej eller en er ert ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom "
        "inte jag ju kan kunde man med mellan men mig min mot mycket ni nu när någon något några och om oss på samma "
        "sedan sig sin sina sitta själv skulle som så till under upp ut utan vad var vara varför varit vem vi vid vår "
        "än är åt över",
        "turkish": "acaba ama ancak artık asla aslında az bana bazı belki ben beni benim beş bile bir biri birkaç biz "
        "bize bizim bu buna bunda bundan bunlar bunu bunun burada çok çünkü da daha de defa değil diğer diye dolayı "
        "en gibi göre hangi hatta hem henüz hep hepsi her hiç için ile ise işte kadar kendi ki kim mı mi mu mü nasıl "
        "ne neden nerede niye o olan olarak oldu olduğu olması on ona onlar onu onun sadece sen siz sonra şey şu tüm "
        "var ve veya ya yani yok",
    }.items()
}


def checked_language(language: str | None) -> str | None:
    """Return the name of a language as Snowball has it; None leaves it to the texts."""
    known = {*Stemmer.algorithms(), NO_LANGUAGE}
    if language is None or language in known:
        return language
    raise ValueError(
        f"language is {language!r:.60}, expected one of {', '.join(sorted(known))}: name one, or leave it out"
    )


def stems(language: str | None, words: Sequence[str]) -> list[str]:
    """Return the stem of each word; the word itself if the language is unknown or the word is very long."""
    if language in (None, NO_LANGUAGE):
        return list(words)
    with _lock:
        found: list[str] = _stemmer(str(language)).stemWords([word[: LONGEST + 1] for word in words])
    return [stem if len(word) <= LONGEST else word for word, stem in zip(words, found, strict=True)]


@lru_cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language, 0)  # its cache is slower than its algorithms


def detect_language(texts: Iterable[str]) -> str | None:
    """Return the language that most stop words of some texts are of; None if there are too few to tell."""
    words = [word for text in islice(texts, _SAMPLE) for word in terms_of(text[:_BEGINNING])]
    counts = {language: sum(map(stop.__contains__, words)) for language, stop in STOP_WORDS.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] >= max(_FEWEST, _LEAST_SHARE * len(words)) else None
